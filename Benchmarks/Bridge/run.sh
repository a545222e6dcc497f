#!/usr/bin/env bash
# What a call of a page costs beside the least that it can cost, a binding of an isolated world with nothing around it; and 16 MB to a
# page beside base64 in a call. Needs Chromium (Scripts/browser.sh install). Exits with 1 if a target is missed.
#
#   ./run.sh [PART]...       all parts, or some of: calls, bytes
#
# SCRATCH names the folder of the build, ROUNDS the number of rounds (20 of 500 calls each, and a quarter as many of bytes).
set -euo pipefail
cd "$(dirname "$0")"

command -v chromium >/dev/null || { echo "run.sh: install Chromium first (Scripts/browser.sh install)" >&2; exit 1; }
# The driver of Chromium has no public doors: the benchmark sees what the tests see.
scratch=${SCRATCH:-.build-release}
SWIFT_DETERMINISTIC_HASHING=1 swift build -c release --scratch-path "$scratch" -Xswiftc -enable-testing
exec "$scratch/release/BridgeBenchmark" "$@"
