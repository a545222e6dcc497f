#!/usr/bin/env bash
# Fuzzes what reads documents of JSON with libFuzzer under AddressSanitizer, and fails when it finds anything.
#
#   Scripts/fuzz-documents.sh            30 seconds each
#   Scripts/fuzz-documents.sh 600        600 seconds each
#   Scripts/fuzz-documents.sh 600 views  one of the two: sync, the messages of the synchronisation; views, documents of
#                                        views with data, from bytes to HTML
#
# New inputs are stored in .build-fuzz/corpus, for the next run; an input that crashes, hangs or takes too much
# memory is stored in .build-fuzz/found. Needs a Swift toolchain for Linux, whose lld links it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
seconds=${1:-30}
targets=${2:-sync views}
build=$PWD/.build-fuzz/documents
vectors=Sources/RunwayJSONSIMD
mkdir -p "$build" .build-fuzz/found

echo "module RunwayJSONSIMD { header \"$PWD/$vectors/include/RunwayJSONSIMD.h\" export * }" >"$build/module.modulemap"
for file in "$vectors"/*.c; do
    clang -O2 -g -fsanitize=address,fuzzer-no-link -I "$vectors/include" -c "$file" -o "$build/$(basename "$file").o"
done
flags=(-swift-version 6 -O -wmo -assert-config Debug -parse-as-library -package-name runway -sanitize=fuzzer,address
    -enable-upcoming-feature ExistentialAny -enable-upcoming-feature MemberImportVisibility
    -enable-upcoming-feature InternalImportsByDefault -enable-upcoming-feature NonisolatedNonsendingByDefault -I "$build")
compile() {
    mapfile -t files < <(find "Sources/$1" -name '*.swift')
    swiftc "${flags[@]}" -module-name "$1" -enable-testing -emit-module -emit-module-path "$build/$1.swiftmodule" \
        -c "${files[@]}" -o "$build/$1.o"
}
compile RunwayJSON

# Leaks are not looked for: the Swift runtime keeps what it makes once, such as type metadata, to the end.
for target in $targets; do
    case $target in
        sync) module=RunwaySyncCore source=Fuzz/Sync dictionary=() ;;
        views) module=RunwayViews source=Fuzz/Views dictionary=(-dict=Fuzz/Views/views.dict) ;;
        *) echo "fuzz-documents: no target $target" >&2 && exit 2 ;;
    esac
    compile "$module"
    swiftc "${flags[@]}" -use-ld=lld -module-name "$target" "$source"/*.swift "$build/$module.o" "$build/RunwayJSON.o" \
        "$build"/*.c.o -o "$build/$target"
    mkdir -p ".build-fuzz/corpus/$target"
    echo "fuzz-documents: $target, $seconds s"
    code=0
    SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0 \
        "$build/$target" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=2048 -max_len=16384 -print_final_stats=1 \
        "${dictionary[@]}" -artifact_prefix=".build-fuzz/found/$target-" ".build-fuzz/corpus/$target" "$source/corpus" \
        >"$build/$target.log" 2>&1 || code=$?
    if [ "$code" -ne 0 ]; then
        tail -n 60 "$build/$target.log"
        echo "fuzz-documents: $target ended with $code; its input is in .build-fuzz/found" >&2
        exit "$code"
    fi
    grep -E 'DONE|stat::number_of_executed_units|stat::peak_rss_mb' "$build/$target.log"
done
