#!/usr/bin/env bash
# Fuzzes what reads bytes of the network with libFuzzer under AddressSanitizer, and fails when anything is found.
#
#   Scripts/fuzz-wire.sh            30 seconds each
#   Scripts/fuzz-wire.sh 600        600 seconds each
#   Scripts/fuzz-wire.sh check      nothing is fuzzed: the targets are held against the sources
#   Scripts/fuzz-wire.sh 600 http1  one of http1, http2, connection, proxy, netlink, hosts, coding, fields, merged, websocket and events
#
# Wants a debug build, swift build, of which it takes the dependencies as they are; Runway, RunwayTransport and RunwayStreams are compiled anew, so
# that the fuzzer sees their branches. RUNWAY_SOURCES names another copy of their sources. New inputs are stored in
# .build-fuzz/wire/corpus, for the next run; an input that crashes, hangs or takes too much memory in .build-fuzz/wire/found. Needs a
# Swift toolchain for Linux, whose lld links it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${1:-30}
targets=${2:-http1 http2 connection proxy netlink hosts coding fields merged websocket events}
sources=${RUNWAY_SOURCES:-Sources}
built=$(realpath .build/debug)
build=$PWD/.build-fuzz/wire
mkdir -p "$build/modules" "$build/found"
[ -e "$built/Modules/NIOHTTP2.swiftmodule" ] || { echo "fuzz-wire: swift build first" >&2; exit 1; }

maps=()
while read -r map; do
    maps+=(-Xcc "-fmodule-map-file=$map")
done < <(find -L "$built" -maxdepth 2 -name module.modulemap; find .build/checkouts -path '*/Sources/*/include/module.modulemap')

# As the debug build calls the package, by its folder: modules of another one don't see what is `package` in these.
package=$(basename "$PWD" | tr '[:upper:]' '[:lower:]' | tr -c 'a-z0-9_\n' _)
# Debug assertions stay on: they check bounds that nothing else does.
flags=(-swift-version 6 -O -g -assert-config Debug -parse-as-library -wmo -enable-testing -package-name "$package" -D Transport -D Pins
    -enable-upcoming-feature ExistentialAny -enable-upcoming-feature MemberImportVisibility
    -enable-upcoming-feature InternalImportsByDefault -enable-upcoming-feature NonisolatedNonsendingByDefault
    -sanitize=fuzzer,address)
modules=(-I "$built/Modules" "${maps[@]}")

if [ "$seconds" = check ]; then exec swiftc "${flags[@]}" "${modules[@]}" -typecheck Fuzz/Wire/*.swift; fi

compile() {
    local name=$1
    shift
    swiftc "${flags[@]}" -I "$build/modules" "${modules[@]}" -module-name "$name" \
        -emit-module -emit-module-path "$build/modules/$name.swiftmodule" -c "$@" -o "$build/$name.o"
}

for module in Runway RunwayTransport RunwayStreams; do
    mapfile -t files < <(find "$sources/$module" -name '*.swift')
    compile "$module" "${files[@]}"
done
compile WireFuzz Fuzz/Wire/*.swift

# All that the debug build has compiled, of which the linker takes what is needed.
rm -f "$build/dependencies.a"
find -L "$built" -path '*.build/*.o' ! -path '*/Runway.build/*' ! -path '*/RunwayTransport.build/*' \
    ! -path '*/RunwayStreams.build/*' ! -path '*Tests.build/*' \
    -printf '"%p"\n' >"$build/objects"
ar --thin -qcs "$build/dependencies.a" "@$build/objects"
swiftc -sanitize=fuzzer,address -use-ld=lld "$build"/{WireFuzz,RunwayStreams,RunwayTransport,Runway}.o "$build/dependencies.a" \
    -lz -lstdc++ -o "$build/fuzz"

# Each input has a minute and the process two gigabytes. Leaks are not looked for: the Swift runtime keeps what it makes once, such
# as type metadata, to the end.
for target in $targets; do
    corpus=$build/corpus/$target
    code=0
    mkdir -p "$corpus"
    echo "fuzz-wire: $target, $seconds s"
    RUNWAY_FUZZ=$target SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0 \
        "$build/fuzz" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=2048 -max_len=8192 -print_final_stats=1 \
        -dict=Fuzz/Wire/wire.dict -artifact_prefix="$build/found/$target-" "$corpus" "Fuzz/Wire/corpus/$target" \
        >"$build/$target.log" 2>&1 || code=$?
    if [ "$code" -ne 0 ]; then
        tail -n 60 "$build/$target.log"
        echo "fuzz-wire: $target ended with $code; its input is in .build-fuzz/wire/found" >&2
        exit "$code"
    fi
    grep -E 'DONE|stat::number_of_executed_units|stat::peak_rss_mb' "$build/$target.log"
done
