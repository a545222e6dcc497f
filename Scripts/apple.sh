#!/usr/bin/env bash
# Type-checks and runs region isolation of Apple-only code against hand-written stubs; it does not mean that it compiles on Apple.
#
#   Scripts/apple.sh            every target with its tests, then the program over the fakes
#   Scripts/apple.sh run        what the program over the fakes needs, and the program
#   Scripts/apple.sh planted    plants mistakes in a copy of the sources, one after the other, and fails if one is not
#                               found; by hand, since it takes several runs
#
# Wants a debug build, swift build --build-tests, of which it takes the modules and objects of the dependencies. The sources are copied
# with their #if conditions as they are on Apple's systems, and compiled with the modules in Scripts/apple in place of Apple's. The
# program over the fakes runs the URLSession code: the stubs of URLSession behave as Apple documents. docs/apple.md says what all this
# can't find. RUNWAY_SOURCES names another copy of Sources and Tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

what=${1:-all}
root=${RUNWAY_SOURCES:-$PWD}
built=$(realpath .build/debug)
[ -e "$built/Modules/NIOHTTP2.swiftmodule" ] || { echo "apple.sh: swift build --build-tests first" >&2; exit 1; }
[ "$what" = planted ] && exec Scripts/apple/planted.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/stubs" "$work/modules"
echo "apple.sh: type-checks and runs region isolation of Apple-only code against hand-written stubs;" \
    "it does not mean that it compiles on Apple"

maps=()
while read -r map; do
    maps+=(-Xcc "-fmodule-map-file=$map")
done < <(find -L "$built" -maxdepth 2 -name module.modulemap
    find .build/checkouts -path '*/Sources/*/include/module.modulemap' -o -path '*/Sources/GRDBSQLite/module.modulemap')
plugins=$(dirname "$(readlink -f "$(command -v swiftc)")")/../lib/swift/host/plugins/testing
features=(-enable-testing -D Transport -D Pins -D Signing -D Storage -D Server -D Command -plugin-path "$plugins"
    -enable-upcoming-feature ExistentialAny -enable-upcoming-feature MemberImportVisibility
    -enable-upcoming-feature InternalImportsByDefault -enable-upcoming-feature NonisolatedNonsendingByDefault)

# Copies a folder with the conditions of a system of Apple's: turn SYSTEM FROM TO
turn() {
    mkdir -p "$3"
    cp -R "$2/." "$3"
    find "$3" -name '*.swift' -exec sed -i -E "
        /^ *#(if|elseif) /{
            s/canImport\((Darwin|Network|Security|Dispatch|CryptoKit)\)/true/g
            s/canImport\((Glibc|Musl|FoundationNetworking|FoundationEssentials)\)/false/g
            s/os\($1\)/true/g
            s/os\([A-Za-z]+\)/false/g
        }
        s/^( *((public|package) )?import )(Foundation|Dispatch|NIOPosix)\$/\1Apple\4/
        /import/!s/\bFoundation\./AppleFoundation./g" {} +
}

# Compiles a folder as a module against the modules of another folder, where its own goes: compile NAME SOURCES MODULES FLAG...
compile() {
    local name=$1 sources=$2 modules=$3 files
    shift 3
    mapfile -t files < <(find "$sources" -name '*.swift')
    if ! swiftc -swift-version 6 -parse-as-library -wmo -warnings-as-errors -package-name runway -module-name "$name" \
        -emit-module-path "$modules/$name.swiftmodule" -I "$modules" -I "$work/modules" -I "$work/stubs" -I "$built/Modules" \
        "${maps[@]}" "$@" "${files[@]}" >"$work/$name.log" 2>&1; then
        sed "s|$work/macOS/||; s|$work/||" "$work/$name.log" >&2
        echo "apple.sh: $name does not compile" >&2
        return 1
    fi
    echo "apple.sh: $name ($SECONDS s)"
}

# `-typecheck` alone would leave out region isolation.
check() { compile "$1" "$2" "$work/modules" "${features[@]}" "${@:3}" -emit-sil -o "$work/$1.sil"; }
object() { compile "$1" "$2" "$work/modules" "${features[@]}" -c -o "$work/modules/$1.o"; }

for stub in Darwin DarwinStat AppleDispatch CoreFoundation Security CryptoKit AppleFoundation Network CoreTelephony AppleNIOPosix SwiftUI; do
    compile "$stub" "Scripts/apple/$stub" "$work/stubs" -c -o "$work/stubs/$stub.o"
done
turn macOS "$root/Sources" "$work/macOS/Sources"
turn macOS "$root/Tests" "$work/macOS/Tests"

# Each target of Package.swift is in one of these lists, or among the exceptions of TidyTests. Those that the program runs:
run=(RunwayJSON Runway RunwayTesting RunwayTestServer RunwayTransport RunwaySignatures RunwaySigning)
checked=(RunwayStorage RunwayStreams RunwayServer RunwayServerStorage RunwayDemo RunwayCommand RunwayCrashTest)
tests=(RunwayTransportTests RunwayTestServerTests RunwaySignaturesTests RunwaySigningTests RunwayStorageTests RunwayStreamsTests
    RunwayServerTests RunwayServerStorageTests RunwayDemoTests RunwayCommandTests RunwayJSONTests RunwayTestingTests TidyTests)
# Beside the program, so that both halves take about as long.
firstTests=(RunwayTests)

for target in "${run[@]}"; do object "$target" "$work/macOS/Sources/$target"; done

fakes() {
    # The one part of which watchOS and iOS have others, as modules of their own.
    local system
    for system in watchOS iOS; do
        turn $system "$root/Sources/Runway/Status" "$work/$system/Status"
        rm "$work"/$system/Status/Network{StatusMonitor,Track}.swift
    done
    object WatchStatus "$work/watchOS/Status"
    object PhoneStatus "$work/iOS/Status"
    # The suites that run over every transport, except those that docs/apple.md names, and what they are made with.
    mkdir "$work/suites"
    (
        cd "$work/macOS/Tests/RunwayTransportTests"
        cp {Cancellation,Connection,ContentCoding,Misbehaviour,Redirect,Request,Response,Sending,Time,Trust,WholeDeadline}Tests.swift \
            Transfers/{DownloadTests,TransferManagerTests,UploadTests,RangedFile}.swift Caching/HTTPCacheWireTests.swift Coding/Tool.swift AsyncHTTPClient/*.swift Trust/TestAuthority.swift \
            TransportUnderTest.swift TestService.swift TestCertificate.swift DeafPort.swift "$work/suites"
    )
    object TransportSuites "$work/suites"
    object AppleTests Scripts/apple/Tests
    # All that the debug build has compiled, of which the linker takes what is needed.
    find -L "$built" -path '*.build/*.o' ! -path '*/Runway*.build/*.swift.o' ! -path '*-tool.build/*' -printf '"%p"\n' >"$work/objects"
    ar --thin -qcs "$work/dependencies.a" "@$work/objects"
    swiftc -use-ld=lld "$work"/modules/*.o "$work"/stubs/*.o "$work/dependencies.a" -lz -lstdc++ -lTesting -o "$work/fakes"
    # One module after the other: what depends on the order of threads is seldom found beside tests that use the whole machine.
    local tests code=0
    for tests in AppleTests TransportSuites; do
        RUNWAY_TRANSPORT=urlSession "$work/fakes" --filter "^$tests\\." >"$work/fakes.log" 2>&1 ||
            { code=1; grep -vE '^(◇|✔|.\[[0-9;]*m.)' "$work/fakes.log" >&2 || true; }
        tail -n 1 "$work/fakes.log"
    done
    [ "$code" = 0 ] || return 1
    echo "apple.sh: the program over the fakes ($SECONDS s)"
}

if [ "$what" = run ]; then
    fakes
    exit
fi
for target in "${checked[@]}"; do check "$target" "$work/macOS/Sources/$target"; done

samples() {
    turn macOS "$root/Samples" "$work/macOS/Samples"
    # Seen by the samples alone: tests of the package have no UIKit.
    mkdir "$work/kits"
    compile UIKit Scripts/apple/UIKit "$work/kits" -c -o "$work/kits/UIKit.o"
    local kit
    for kit in SwiftUI UIKit; do
        # Two apps: each with what they share.
        mkdir "$work/$kit"
        cp -R "$work"/macOS/Samples/{Shared,$kit} "$work/$kit"
        check "Samples$kit" "$work/$kit" -I "$work/kits"
    done
}

# The targets with code for other systems of Apple's alone, in the order in which they need each other: otherSystem SYSTEM TARGET...
otherSystem() {
    local system=$1 target
    shift
    mkdir "$work/modules-$system"
    for target in "$@"; do
        turn "$system" "$root/Sources/$target" "$work/$system/$target"
        compile "$target" "$work/$system/$target" "$work/modules-$system" "${features[@]}" -emit-sil -o "$work/$target-$system.sil"
    done
}

checkTests() { for target in "$@"; do check "$target" "$work/macOS/Tests/$target"; done; }

# Two at a time.
(
    checkTests "${firstTests[@]}"
    fakes
) &
first=$!
(
    samples
    otherSystem watchOS Runway
    otherSystem iOS Runway RunwayStorage
    checkTests "${tests[@]}"
) &
second=$!
code=0
wait "$first" || code=1
wait "$second" || code=1
echo "apple.sh: everything ($SECONDS s)"
[ "$SECONDS" -le 240 ] || echo "apple.sh: more than four minutes; on an idle machine this is too long" >&2
exit $code
