#!/usr/bin/env bash
# What signatures cost: a call that is signed beside its hashes alone, a Hummingbird server that verifies beside the same server without,
# a memory of nonces with a million of them, and good requests under a flood of forged ones. Arguments: rounds, requests a round.
set -euo pipefail
cd "$(dirname "$0")"
scratch=${RUNWAY_BENCHMARK_SCRATCH:-.build-release}
SWIFT_DETERMINISTIC_HASHING=1 swift build -c release --scratch-path "$scratch"
failed=()
for part in signing nonces server flood; do "$scratch/release/SigningBenchmark" "$part" "$@" || failed+=("$part"); done
if [ ${#failed[@]} -gt 0 ]; then echo "run: failed: ${failed[*]}" >&2; exit 1; fi
