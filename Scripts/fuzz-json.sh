#!/usr/bin/env bash
# Fuzzes the JSON reader and decoder with libFuzzer under AddressSanitizer, and fails when either finds anything.
#
#   Scripts/fuzz-json.sh            30 seconds each
#   Scripts/fuzz-json.sh 600        600 seconds each
#   Scripts/fuzz-json.sh 600 reader one of the two
#
# New inputs are stored in .build-fuzz/corpus, for the next run; an input that crashes, hangs or takes too much
# memory is stored in .build-fuzz/found. Needs a Swift toolchain for Linux, whose lld links it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${1:-30}
targets=${2:-reader decoder}
build=$PWD/.build-fuzz
sources=Sources/RunwayJSON
vectors=Sources/RunwayJSONSIMD
mkdir -p "$build/module" "$build/found"

cat >"$build/module/module.modulemap" <<MAP
module RunwayJSONSIMD { header "$PWD/$vectors/include/RunwayJSONSIMD.h" export * }
MAP

objects=()
for file in "$vectors"/*.c; do
    object=$build/$(basename "$file" .c).o
    clang -O2 -g -fsanitize=address,fuzzer-no-link -c "$file" -o "$object"
    objects+=("$object")
done

# Debug assertions stay on: the memory of the index checks its bounds by them.
compile() {
    mapfile -t files < <(find "$sources" -name '*.swift')
    swiftc -swift-version 6 -O -g -assert-config Debug -parse-as-library -module-name RunwayJSON -package-name runway \
        -enable-upcoming-feature ExistentialAny -enable-upcoming-feature MemberImportVisibility \
        -enable-upcoming-feature InternalImportsByDefault -enable-upcoming-feature NonisolatedNonsendingByDefault \
        -sanitize=fuzzer,address -use-ld=lld -I "$build/module" \
        "${files[@]}" "$1" "${objects[@]}" -o "$2"
}

compile Fuzz/JSON/ReaderFuzz.swift "$build/reader"
compile Fuzz/JSON/DecoderFuzz.swift "$build/decoder"

# Each input has a minute and the process two gigabytes. Leaks are not looked for: the Swift runtime keeps what it
# makes once, such as type metadata, to the end.
code=0
for target in $targets; do
    corpus=$build/corpus/$target
    mkdir -p "$corpus"
    echo "fuzz-json: $target, $seconds s"
    SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0 \
        "$build/$target" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=2048 -max_len=16384 -print_final_stats=1 \
        -dict=Fuzz/JSON/json.dict -artifact_prefix="$build/found/$target-" "$corpus" "Fuzz/JSON/corpus/$target" \
        >"$build/$target.log" 2>&1 || code=$?
    if [ "$code" -ne 0 ]; then
        tail -n 60 "$build/$target.log"
        echo "fuzz-json: $target ended with $code; its input is in .build-fuzz/found" >&2
        exit "$code"
    fi
    grep -E 'DONE|stat::number_of_executed_units|stat::peak_rss_mb' "$build/$target.log"
done
