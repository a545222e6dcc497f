#!/usr/bin/env bash
# The throughput of a Hummingbird server that verifies signatures, beside the same server without. Arguments: rounds, requests a round.
set -euo pipefail
cd "$(dirname "$0")"
swift build -c release --scratch-path .build-release
exec .build-release/release/SigningBenchmark "$@"
