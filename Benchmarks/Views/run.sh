#!/usr/bin/env bash
# What views from JSON cost: a screen of 30 rows from bytes to its resolved tree, the tree after one change of data with its edits, and a list
# of 10,000 rows; beside Foundation, which decodes the same bytes into types. The processor's time in the best of ROUNDS rounds (200) counts.
# Exits with 1 if a target is missed.
set -euo pipefail
cd "$(dirname "$0")"
scratch=${SCRATCH:-.build-release}
SWIFT_DETERMINISTIC_HASHING=1 swift build -c release --scratch-path "$scratch"
exec "$scratch/release/ViewsBenchmark" "${ROUNDS:-200}"
