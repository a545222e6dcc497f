#!/usr/bin/env bash
# Counts the instructions of verifying an HMAC by an unknown key, with a wrong first byte and with a wrong last byte, by callgrind, and
# fails if they differ by more than 0.1 %. What a process does once is subtracted: each case runs with two counts.
set -euo pipefail
cd "$(dirname "$0")"
scratch=${RUNWAY_BENCHMARK_SCRATCH:-.build-release}
[ -x "$scratch/release/SigningBenchmark" ] || SWIFT_DETERMINISTIC_HASHING=1 swift build -c release --scratch-path "$scratch"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# Valgrind ends at debug information that it can't read.
strip --strip-debug -o "$folder/SigningBenchmark" "$scratch/release/SigningBenchmark"

instructions() {
    # With another seed of the hashes, dictionaries are walked in another order.
    SWIFT_DETERMINISTIC_HASHING=1 valgrind --tool=callgrind --callgrind-out-file="$folder/out" "$folder/SigningBenchmark" verify "$1" "$2" >/dev/null 2>"$folder/log" ||
        { cat "$folder/log" >&2; exit 1; }
    sed -n 's/^summary: //p; s/^totals: //p' "$folder/out" | head -1
}

counts=()
for case in unknown first last; do
    few=$(instructions "$case" 100)
    many=$(instructions "$case" 1100)
    each=$(((many - few) / 1000))
    echo "$case: $each instructions a verification"
    counts+=("$each")
done
python3 - "${counts[@]}" <<'COMPARE'
import sys
counts = [int(text) for text in sys.argv[1:]]
difference = (max(counts) - min(counts)) / min(counts)
print(f"greatest difference: {difference:.4%}")
if difference > 0.001: sys.exit("timing: more than 0.1 %")
COMPARE
