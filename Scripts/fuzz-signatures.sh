#!/usr/bin/env bash
# Fuzzes what reads the fields of signatures, enrolments, files of keys and command lines with libFuzzer under AddressSanitizer, and fails
# when anything is found.
#
#   Scripts/fuzz-signatures.sh               30 seconds each
#   Scripts/fuzz-signatures.sh 600           600 seconds each
#   Scripts/fuzz-signatures.sh check         nothing is fuzzed or run: the target is compiled against the sources, in seconds
#   Scripts/fuzz-signatures.sh corpus        nothing is fuzzed: each input of the corpus is run once
#   Scripts/fuzz-signatures.sh 600 message   one of message, fields, enrolment, keys and words
#
# Wants a debug build, swift build, of which it takes the dependencies as they are; RunwaySignatures is compiled anew, so that the fuzzer
# sees its branches. New inputs are stored in .build-fuzz/signatures/corpus, for the next run; an input that crashes, hangs or takes
# too much memory in .build-fuzz/signatures/found. Needs a Swift toolchain for Linux, whose lld links it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${1:-30}
targets=${2:-message fields enrolment keys words}
sources=${RUNWAY_SOURCES:-Sources}
built=$(realpath .build/debug)
build=$PWD/.build-fuzz/signatures
mkdir -p "$build/modules" "$build/found"
[ -e "$built/Modules/CryptoExtras.swiftmodule" ] || { echo "fuzz-signatures: swift build first" >&2; exit 1; }

maps=()
while read -r map; do
    maps+=(-Xcc "-fmodule-map-file=$map")
done < <(find -L "$built" -maxdepth 2 -name module.modulemap; find .build/checkouts -path '*/Sources/*/include/module.modulemap')

# As the debug build calls the package, by its folder: modules of another one don't see what is `package` in these.
package=$(basename "$PWD" | tr '[:upper:]' '[:lower:]' | tr -c 'a-z0-9_\n' _)
# Debug assertions stay on: they check bounds that nothing else does.
flags=(-swift-version 6 -O -g -assert-config Debug -parse-as-library -wmo -enable-testing -package-name "$package" -D Signing
    -enable-upcoming-feature ExistentialAny -enable-upcoming-feature MemberImportVisibility
    -enable-upcoming-feature InternalImportsByDefault -enable-upcoming-feature NonisolatedNonsendingByDefault
    -sanitize=fuzzer,address)
modules=(-I "$built/Modules" "${maps[@]}")

# Readers of other targets, which are compiled with the fuzz targets.
readers=("$sources"/RunwayServer/{Connections/Response+JSON,Enrolment/EnrolmentRequest,Enrolment/EnrolmentRefusal}.swift
    "$sources"/RunwayServer/Enrolment/AppAttest/{CBORValue,AuthenticatorData}.swift
    "$sources"/RunwayCommand/{ExitStatus,Signing/ShellWords}.swift)

if [ "$seconds" = check ]; then
    exec swiftc "${flags[@]}" "${modules[@]}" -module-name SignatureFuzz -typecheck Fuzz/Signatures/*.swift "${readers[@]}"
fi

compile() {
    local name=$1
    shift
    swiftc "${flags[@]}" -I "$build/modules" "${modules[@]}" -module-name "$name" \
        -emit-module -emit-module-path "$build/modules/$name.swiftmodule" -c "$@" -o "$build/$name.o"
}

mapfile -t files < <(find "$sources/RunwaySignatures" -name '*.swift')
compile RunwaySignatures "${files[@]}"
compile SignatureFuzz Fuzz/Signatures/*.swift "${readers[@]}"

# All that the debug build has compiled, of which the linker takes what is needed.
rm -f "$build/dependencies.a"
find -L "$built" -path '*.build/*.o' ! -path '*/RunwaySignatures.build/*' ! -path '*Tests.build/*' \
    -printf '"%p"\n' >"$build/objects"
ar --thin -qcs "$build/dependencies.a" "@$build/objects"
swiftc -sanitize=fuzzer,address -use-ld=lld "$build"/{SignatureFuzz,RunwaySignatures}.o "$build/dependencies.a" \
    -lz -lstdc++ -o "$build/fuzz"

# Each input has a minute and the process two gigabytes. Leaks are not looked for: the Swift runtime keeps what it makes once, such
# as type metadata, to the end.
for target in $targets; do
    corpus=$build/corpus/$target
    code=0
    mkdir -p "$corpus"
    if [ "$seconds" = corpus ]; then
        length=-runs=0
        echo "fuzz-signatures: $target, the corpus"
    else
        length=-max_total_time=$seconds
        echo "fuzz-signatures: $target, $seconds s"
    fi
    RUNWAY_FUZZ=$target SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0 \
        "$build/fuzz" "$length" -timeout=60 -rss_limit_mb=2048 -max_len=8192 -print_final_stats=1 \
        -dict=Fuzz/Signatures/signatures.dict -artifact_prefix="$build/found/$target-" "$corpus" "Fuzz/Signatures/corpus/$target" \
        >"$build/$target.log" 2>&1 || code=$?
    if [ "$code" -ne 0 ]; then
        tail -n 60 "$build/$target.log"
        echo "fuzz-signatures: $target ended with $code; its input is in .build-fuzz/signatures/found" >&2
        exit "$code"
    fi
    grep -E 'DONE|stat::number_of_executed_units|stat::peak_rss_mb' "$build/$target.log"
done
