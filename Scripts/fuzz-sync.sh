#!/usr/bin/env bash
# Fuzzes the messages of the synchronisation with libFuzzer under AddressSanitizer, and fails when it finds anything.
#
#   Scripts/fuzz-sync.sh [SECONDS]     30 seconds by default
#
# New inputs are stored in .build-fuzz/corpus, for the next run; an input that crashes, hangs or takes too much
# memory is stored in .build-fuzz/found. Needs a Swift toolchain for Linux, whose lld links it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
seconds=${1:-30}
build=$PWD/.build-fuzz/sync
vectors=Sources/RunwayJSONSIMD
mkdir -p "$build" .build-fuzz/found .build-fuzz/corpus/sync

echo "module RunwayJSONSIMD { header \"$PWD/$vectors/include/RunwayJSONSIMD.h\" export * }" >"$build/module.modulemap"
for file in "$vectors"/*.c; do
    clang -O2 -g -fsanitize=address,fuzzer-no-link -I "$vectors/include" -c "$file" -o "$build/$(basename "$file" .c).o"
done
flags=(-swift-version 6 -O -wmo -assert-config Debug -parse-as-library -package-name runway -sanitize=fuzzer,address
    -enable-upcoming-feature ExistentialAny -enable-upcoming-feature MemberImportVisibility
    -enable-upcoming-feature InternalImportsByDefault -enable-upcoming-feature NonisolatedNonsendingByDefault -I "$build")
for module in RunwayJSON RunwaySyncCore; do
    mapfile -t files < <(find "Sources/$module" -name '*.swift')
    swiftc "${flags[@]}" -module-name "$module" -emit-module -emit-module-path "$build/$module.swiftmodule" \
        -c "${files[@]}" -o "$build/$module.o"
done
swiftc "${flags[@]}" -use-ld=lld -module-name SyncFuzz Fuzz/Sync/SyncFuzz.swift "$build"/*.o -o "$build/run"

# Leaks are not looked for: the Swift runtime keeps what it makes once, such as type metadata, to the end.
code=0
SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0 \
    "$build/run" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=2048 -max_len=16384 -print_final_stats=1 \
    -artifact_prefix=.build-fuzz/found/sync- .build-fuzz/corpus/sync Fuzz/Sync/corpus >"$build/log" 2>&1 || code=$?
if [ "$code" -ne 0 ]; then
    tail -n 60 "$build/log"
    echo "fuzz-sync: ended with $code; its input is in .build-fuzz/found" >&2
    exit "$code"
fi
grep -E 'DONE|stat::number_of_executed_units|stat::peak_rss_mb' "$build/log"
