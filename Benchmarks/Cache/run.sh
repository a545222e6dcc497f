#!/usr/bin/env bash
# What a hit in memory costs, beside a locked dictionary, NSCache and URLCache. Arguments go to the benchmark; see --help there.
# With --instructions NAME it counts that contender's instructions a call instead, under valgrind (Debian: apt-get install -y valgrind).
set -euo pipefail
cd "$(dirname "$0")"

# The lookup with its key in hand is no public operation of the layer: the benchmark sees what its tests see.
SWIFT_DETERMINISTIC_HASHING=1 swift build -c release --scratch-path .build-release -Xswiftc -enable-testing
program=.build-release/release/CacheBenchmark

if [ "${1:-}" != --instructions ]; then exec "$program" "$@"; fi

# Without its debug information, which Debian's valgrind can't read.
plain=$(mktemp)
trap 'rm -f "$plain"' EXIT
strip -g -o "$plain" "$program"

counted() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$plain" --count "$2" --rounds 1 --contenders "$1" 2>&1 |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}
less=$(counted "$2" 2000)
more=$(counted "$2" 12000)
echo "$2: $(((more - less) / 10000)) instructions a call"
