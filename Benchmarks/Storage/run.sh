#!/usr/bin/env bash
# What the stores on disk cost beside rows of SQLite and files, and the way of an action log to its server.
#
#   ./run.sh [PART]...       all parts, or some of: cache, callers, opening, recording, reopening, changes, sending, ingest, records,
#                            staging; exits with 1 if a target is missed
#
# SCRATCH names the folder of the build, FOLDER the one to measure in; the default is a new one beside the build. RECORDS is how many
# records are sent, 1,000,000 by default. With RUNWAY_POSTGRESQL, the URL of a database, the server's half is also measured over it, which
# needs libpq.
set -euo pipefail
cd "$(dirname "$0")"

# Keys are made of calls: the benchmark sees what the tests see.
scratch=${SCRATCH:-.build-release}
SWIFT_DETERMINISTIC_HASHING=1 swift build -c release --scratch-path "$scratch" -Xswiftc -enable-testing
exec "$scratch/release/StorageBenchmark" "${FOLDER:-$scratch/measured}" "$@"
