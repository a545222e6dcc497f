#!/usr/bin/env bash
# What the mediator costs: opening a page by its value and by its address, reading and writing an address; beside Foundation, which splits
# the same address, and decodes and encodes the same page as JSON. The best of ROUNDS rounds (400) of 1,000 calls counts. Exits with 1 if a
# target is missed.
set -euo pipefail
cd "$(dirname "$0")"
scratch=${SCRATCH:-.build-release}
SWIFT_DETERMINISTIC_HASHING=1 swift build -c release --scratch-path "$scratch"
exec "$scratch/release/MediatorBenchmark" "${ROUNDS:-400}"
