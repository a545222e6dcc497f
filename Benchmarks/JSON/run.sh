#!/usr/bin/env bash
# Times every way from a listing answer to rows in one run: RunwayJSON, its decoder, Foundation's, and simdjson as the
# limit. Installs what the last needs where it is missing (Debian: g++ libsimdjson-dev). Arguments go to the benchmark.
set -euo pipefail
cd "$(dirname "$0")"

missing=()
command -v g++ >/dev/null || missing+=(g++)
[ -e /usr/include/simdjson.h ] || missing+=(libsimdjson-dev)
if [ ${#missing[@]} -gt 0 ]; then
    echo "run.sh: installing ${missing[*]}" >&2
    apt-get update -qq && apt-get install -y -qq "${missing[@]}" >/dev/null
fi

SWIFT_DETERMINISTIC_HASHING=1 swift build -c release --scratch-path .build-release
g++ -std=c++17 -O3 -march=native -o .build-release/simdjson-peer simdjson/peer.cpp -lsimdjson
[ $# -gt 0 ] || set -- --simdjson .build-release/simdjson-peer
.build-release/release/JSONBenchmark "$@"
