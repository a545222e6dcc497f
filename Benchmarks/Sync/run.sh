#!/usr/bin/env bash
# How fast devices and servers synchronise, beside a naive version that stores a clock for each column, and beside plain GRDB.
#
#   ./run.sh [PART]...
#
#   push       operations a second that devices push into one space, on the drive when they are acknowledged
#   apply      rows a second that a device applies, with decoding; and the size of its file
#   capture    captured inserts and updates beside GRDB's
#   backlog    10,000 operations from a device that comes back to the network until another device shows them
#   latency    one write on a device until the observer of another device has it
#   snapshot   the memory that a device needs for a million rows
#
# Without a part, all of them run. Each figure is taken in ROUNDS rounds (5), of which the best counts. Exits with 1 if a target is missed.
# SCRATCH names the folder of the build, FOLDER the one to measure in; the default is a new one beside the build. ROWS is the number of
# rows of the snapshot. With RUNWAY_POSTGRESQL, the URL of a database, the pushes are also measured over it, which needs libpq.
set -euo pipefail
cd "$(dirname "$0")"
case "${1:-}" in -h | --help) sed -n '2,16s/^# \{0,1\}//p' run.sh; exit ;; esac

# The stores and the core have no public doors for a benchmark, which sees what the tests see.
scratch=${SCRATCH:-.build-release}
SWIFT_DETERMINISTIC_HASHING=1 swift build -c release --scratch-path "$scratch" -Xswiftc -enable-testing
exec "$scratch/release/SyncBenchmark" "${FOLDER:-$scratch/measured}" "$@"
