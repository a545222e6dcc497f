#!/usr/bin/env bash
# What a hit and a write of 50 KB cost in the cache on disk, beside a row of SQLite and a file, and how long it takes to open.
# The first argument is the folder to measure in; the default is a new one beside the build. SCRATCH names the folder of the build.
set -euo pipefail
cd "$(dirname "$0")"

# Keys are made of calls: the benchmark sees what the tests see.
scratch=${SCRATCH:-.build-release}
swift build -c release --scratch-path "$scratch" -Xswiftc -enable-testing
exec "$scratch/release/StorageBenchmark" "${1:-$scratch/measured}"
