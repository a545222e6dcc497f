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
# can't find. RUNWAY_SOURCES names another copy of Sources, Tests and Samples.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source Scripts/apple/jobs.sh

what=${1:-all}
root=${RUNWAY_SOURCES:-$PWD}
built=$(realpath .build/debug)
[ -e "$built/Modules/NIOHTTP2.swiftmodule" ] || { echo "apple.sh: swift build --build-tests first" >&2; exit 1; }
[ "$what" = planted ] && exec Scripts/apple/planted.sh
work=$(mktemp -d)
trap 'stopJobs; rm -rf "$work"' EXIT
mkdir "$work/stubs" "$work/modules"
echo "apple.sh: type-checks and runs region isolation of Apple-only code against hand-written stubs;" \
    "it does not mean that it compiles on Apple"

maps=()
while read -r map; do
    maps+=(-Xcc "-fmodule-map-file=$map")
done < <(find -L "$built" -maxdepth 2 -name module.modulemap
    find .build/checkouts -path '*/Sources/*/include/module.modulemap' -o -path '*/Sources/GRDBSQLite/module.modulemap')
plugins=$(dirname "$(readlink -f "$(command -v swiftc)")")/../lib/swift/host/plugins/testing
# With DEBUG, as a debug build has it.
features=(-enable-testing -D DEBUG -D Transport -D Pins -D Signing -D Storage -D Server -D Command -plugin-path "$plugins"
    -enable-upcoming-feature ExistentialAny -enable-upcoming-feature MemberImportVisibility
    -enable-upcoming-feature InternalImportsByDefault -enable-upcoming-feature NonisolatedNonsendingByDefault)

# Copies a folder with the conditions of a system of Apple's: turn SYSTEM FROM TO
turn() {
    mkdir -p "$3"
    cp -RL "$2/." "$3"
    find "$3" -name '*.swift' -exec sed -i -E "
        /^ *#(if|elseif) /{
            s/canImport\((Darwin|Network|Security|Dispatch|CryptoKit|UIKit|SwiftUI|WebKit)\)/true/g
            s/canImport\((Glibc|Musl|FoundationNetworking|FoundationEssentials)\)/false/g
            s/os\($1\)/true/g
            s/os\([A-Za-z]+\)/false/g
        }
        s/^( *((public|package) )?import )(Foundation|Dispatch|NIOPosix)\$/\1Apple\4/
        s/#selector\(UIViewController\.(\w+)\(_:\)\)/Selector(\"\1:\")/g
        s/#selector\(UIViewController\.(\w+)\)/Selector(\"\1\")/g
        s/\?\.(webView\w*)\?\(/?.\1(/g
        s/class DelegateProxy: NSObject/class DelegateProxy: ForwardingObject/
        /UIViewController/s/@convention\((c|block)\) //g
        /import/!s/\bFoundation\./AppleFoundation./g" {} +
}

# Runs the compiler on a folder, against the modules of another folder: compile JOB NAME SOURCES MODULES FLAG...
compile() {
    local job=$1 name=$2 sources=$3 modules=$4 files
    shift 4
    mapfile -t files < <(find "$sources" -name '*.swift')
    if ! swiftc -swift-version 6 -parse-as-library -wmo -package-name runway -module-name "$name" \
        -I "$modules" -I "$work/modules" -I "$work/stubs" -I "$built/Modules" \
        "${maps[@]}" "$@" "${files[@]}" >"$work/$job.log" 2>&1; then
        sed "s|$work/macOS/||; s|$work/||" "$work/$job.log" >&2
        echo "apple.sh: $job does not compile" >&2
        return 1
    fi
    report "$job"
}

# Reports that a job is done, with the time of processors that its subshell spent.
report() {
    # Into a file: a command substitution would have times of its own.
    times >"$work/$1.times"
    local seconds
    seconds=$(tail -n 1 "$work/$1.times" | tr 'ms' '  ' | awk '{ printf "%.0f", $1 * 60 + $2 + $3 * 60 + $4 }')
    echo "apple.sh: $1 ($SECONDS s; took $seconds s of a processor)"
}

# Adds a job that compiles a module, with all that it makes, into a folder: module NAME SOURCES MODULES FLAG...
module() {
    sourcesOf[$1]=$2
    job "$1" "" compile "$1" "$1" "$2" "$3" -warnings-as-errors -emit-module-path "$3/$1.swiftmodule" "${@:4}"
}
stub() { module "$1" "Scripts/apple/$1" "$2" -c -o "$work/stubs/$1.o"; }
object() { module "$1" "$2" "$work/modules" "${features[@]}" -c -o "$work/modules/$1.o"; }
# A module's making includes region isolation, which `-typecheck` alone would leave out, and no code.
check() { module "$1" "$2" "$work/modules" "${features[@]}" "${@:3}" -emit-module; }

# Adds two jobs for a module that most others need: they start when its declarations are compiled, beside its functions.
early() {
    sourcesOf[$1]=$2
    sourcesOf[$1.object]=$2
    job "$1" "" compile "$1" "$1" "$2" "$work/modules" "${features[@]}" -suppress-warnings -emit-module \
        -emit-module-path "$work/modules/$1.swiftmodule" -Xfrontend -experimental-skip-non-inlinable-function-bodies-without-types
    job "$1.object" "" compile "$1.object" "$1" "$2" "$work/modules" "${features[@]}" -warnings-as-errors -c -o "$work/modules/$1.o"
}

# The folder that a job compiles. It needs the jobs that are named as the modules that its files import.
declare -A sourcesOf
needImports() {
    local name import
    local kinds='class|enum|func|let|protocol|struct|typealias|var'
    local statement="^ *(@[A-Za-z_()]+ +)*((public|package|internal|private) +)?import +(($kinds) +)?\\w+"
    for name in "${!sourcesOf[@]}"; do
        for import in $(grep -rhoE "$statement" "${sourcesOf[$name]}" --include='*.swift' | grep -oE '\w+$' | sort -u); do
            if [ -n "${jobCommands[$import]:-}" ]; then jobNeeds[$name]+=" $import"; fi
        done
    done
}

for stub in Darwin DarwinStat AppleDispatch CoreFoundation Security CryptoKit AppleFoundation Network CoreTelephony AppleNIOPosix ObjectiveC UIKit SwiftUI WebKit CoreLocation CoreMotion PhotosUI; do
    stub "$stub" "$work/stubs"
done
turn macOS "$root/Sources" "$work/macOS/Sources"
turn macOS "$root/Tests" "$work/macOS/Tests"
# The package manager writes these types, with the embedded files of the targets.
echo 'struct PackageResources { static let runway_js: [UInt8] = [] }' >"$work/macOS/Sources/RunwayBridge/PackageResources.swift"
echo 'struct PackageResources { static let card_json: [UInt8] = [], skin_json = card_json, card_js = card_json, repair_js = card_json, view_js = card_json, embedded_card_json = card_json, embedded_skin_json = card_json }' \
    >"$work/macOS/Sources/RunwayDemo/PackageResources.swift"

# Each target of Package.swift is in one of these lists, or among the exceptions of TidyTests. Those that the program runs:
run=(RunwayJSON RunwayFormats RunwaySignatures RunwayTesting RunwayTestServer RunwayTransport RunwaySigning RunwaySQLite
    RunwayStorage RunwayTables RunwayScreens RunwayMediator RunwayViews RunwayBridge)
# That which most others need.
first=(Runway)
checked=(RunwayChromium RunwayTUF RunwayBundles RunwayScripts RunwayBundleRepository RunwaySyncCore RunwaySyncSimulator RunwayStreams RunwaySync RunwayChat RunwayServer RunwayServerStorage RunwayDemo RunwayCommand RunwayCrashTest)
# The largest.
firstTests=(RunwayTests)
tests=(RunwayTransportTests RunwayTestServerTests RunwaySignaturesTests RunwayTUFTests RunwayBundlesTests RunwayScriptsTests RunwayBundleRepositoryTests RunwaySigningTests RunwayStorageTests StreamFixtures
    RunwayTablesTests RunwaySyncCoreTests RunwaySyncTests RunwayStreamsTests RunwayChatTests
    RunwayServerTests RunwayServerStorageTests RunwayDemoTests RunwayCommandTests RunwayJSONTests RunwayFormatsTests RunwayMediatorTests RunwayScreensTests RunwayViewsTests RunwayBridgeTests RunwayChromiumTests RunwayTestingTests TidyTests)

for target in "${first[@]}"; do early "$target" "$work/macOS/Sources/$target"; done
for target in "${run[@]}"; do object "$target" "$work/macOS/Sources/$target"; done

# What watchOS and iOS have otherwise and the program runs, as modules of their own.
for system in watchOS iOS; do
    turn $system "$root/Sources/Runway/Status" "$work/$system/Status"
    rm "$work"/$system/Status/Network{StatusMonitor,Track}.swift
done
mkdir "$work/multipath"
cp "$root/Sources/Runway/URLSession/MultipathHandover.swift" "$work/multipath"
turn iOS "$work/multipath" "$work/iOS/Status"
# The transport of the program has it, too: the stubs have it on every system.
cp "$work/iOS/Status/MultipathHandover.swift" "$work/macOS/Sources/Runway/URLSession"
object WatchStatus "$work/watchOS/Status"
object PhoneStatus "$work/iOS/Status"
# The suites that run over every transport, except those that docs/apple.md names, and what they are made with.
mkdir "$work/suites"
(
    cd "$work/macOS/Tests/RunwayTransportTests"
    cp {Cancellation,Connection,ContentCoding,Misbehaviour,Redirect,Request,Response,Sending,Time,Trust,WholeDeadline}Tests.swift \
        Transfers/{DownloadTests,TransferManagerTests,UploadTests,RangedFile}.swift Caching/HTTPCacheWireTests.swift Coding/Tool.swift AsyncHTTPClient/*.swift Trust/TestAuthority.swift \
        TransportUnderTest.swift TestService.swift TestCertificate.swift "$work/suites"
)
object TransportSuites "$work/suites"
object AppleTests Scripts/apple/Tests

fakes() {
    # All that the debug build has compiled, of which the linker takes what is needed.
    find -L "$built" -path '*.build/*.o' ! -path '*/Runway*.build/*.swift.o' ! -path '*-tool.build/*' -printf '"%p"\n' >"$work/objects"
    ar --thin -qcs "$work/dependencies.a" "@$work/objects"
    local objects=() name
    for name in "${first[@]}" "${run[@]}" WatchStatus PhoneStatus TransportSuites AppleTests; do objects+=("$work/modules/$name.o"); done
    swiftc -use-ld=lld "${objects[@]}" "$work"/stubs/*.o "$work/dependencies.a" -lz -lsqlite3 -lstdc++ -lTesting -o "$work/fakes"
    # One module after the other: what depends on the order of threads is seldom found beside tests that use the whole machine.
    local tests code=0
    for tests in AppleTests TransportSuites; do
        RUNWAY_TRANSPORT=urlSession "$work/fakes" --filter "^$tests\\." >"$work/fakes.log" 2>&1 ||
            { code=1; grep -vE '^(◇|✔|.\[[0-9;]*m.)' "$work/fakes.log" >&2 || true; }
        tail -n 1 "$work/fakes.log"
    done
    [ "$code" = 0 ] || return 1
    report fakes
}
job fakes "${first[*]/%/.object} ${run[*]} WatchStatus PhoneStatus TransportSuites AppleTests" fakes

if [ "$what" = run ]; then
    needImports
    runJobs
    exit
fi

# Expanding the macros of expectations would take two thirds of the time: in tests that are not run they are functions.
find "$work/macOS/Tests" -name '*.swift' -exec sed -i -E 's/#expect\(processExitsWith/#exits(/g; s/#expect\(/expectation(/g; s/#require\(/requirement(/g; s/#exits\(/#expect(processExitsWith/g' {} +
for target in "${firstTests[@]}" "${tests[@]}"; do
    cp Scripts/apple/Expectations.swift "$work/macOS/Tests/$target"
    check "$target" "$work/macOS/Tests/$target"
done
for target in "${checked[@]}"; do check "$target" "$work/macOS/Sources/$target"; done

# Two apps, each with what they share.
turn macOS "$root/Samples" "$work/macOS/Samples"
for kit in SwiftUI UIKit; do
    mkdir "$work/$kit"
    cp -R "$work"/macOS/Samples/{Shared,$kit} "$work/$kit"
    check "Samples$kit" "$work/$kit"
done

# Adds jobs for the targets with code for other systems of Apple's alone, each of which needs the one before: otherSystem SYSTEM TARGET...
otherSystem() {
    local system=$1 target needed=RunwayJSON
    shift
    mkdir "$work/modules-$system"
    for target in "$@"; do
        turn "$system" "$root/Sources/$target" "$work/$system/$target"
        sourcesOf[$target-$system]=$work/$system/$target
        job "$target-$system" "$needed" compile "$target-$system" "$target" "$work/$system/$target" "$work/modules-$system" "${features[@]}" \
            -warnings-as-errors -emit-module-path "$work/modules-$system/$target.swiftmodule" -emit-module
        needed=$target-$system
    done
}
otherSystem watchOS Runway RunwayScreens RunwayMediator
otherSystem iOS Runway

needImports
code=0
runJobs || code=1
echo "apple.sh: everything ($SECONDS s)"
[ "$SECONDS" -le 240 ] || echo "apple.sh: more than four minutes; on an idle machine this is too long" >&2
exit $code
