#!/usr/bin/env bash
# Runs the tests under ThreadSanitizer, on Linux. Fails if a race is reported, or a test fails.
#
#   Scripts/thread-sanitizer.sh                 every test
#   Scripts/thread-sanitizer.sh 'RunwayTests\.' the tests whose name matches
#
# The first run builds every dependency anew into .build-tsan, which takes a quarter of an hour on two cores. Reports are
# shown at the end and stay in .build-tsan/reports.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$PWD/.build-tsan
reports=$build/reports

fail() {
    echo "thread-sanitizer: $*" >&2
    exit 1
}

# Exit code 66 is a process with reports. Such a process goes on after the first, so that one run shows them all.
# By default it would also sleep for a second at its end, and tests ask how soon a command stops.
options="halt_on_error=0:exitcode=66:second_deadlock_stack=1:atexit_sleep_ms=0"

# Builds the program that this script checks itself with: arguments are its name and options of the compiler.
compile() {
    swiftc -swift-version 6 -parse-as-library -sanitize=thread "${@:2}" Scripts/tsan/*.swift -o "$build/$1" ||
        fail "the program that this script checks itself with does not build"
}

# Tells whether a program ends as it should: arguments are its name, its argument, and its exit code.
ends_with() {
    local code=0
    TSAN_OPTIONS=$options timeout 300 "$build/$1" "$2" >"$build/$1.log" 2>&1 || code=$?
    [ "$code" -eq "$3" ] || { cat "$build/$1.log"; return 1; }
}

# A toolchain may rename or rearrange what the files of Scripts/tsan stand in for, or may come to need them no longer.
# Without these checks the results below could be all noise, or all silence.
check_sanitizer() {
    local race races
    compile check "${objects[@]}"
    ends_with check handovers 0 ||
        fail "a program without a race is reported: see whether the C files of Scripts/tsan still fit this toolchain"
    races=$("$build/check" races)
    while read -r race; do
        ends_with check "$race" 66 || fail "a race is not reported: $race"
    done <<<"$races"
    compile check-plain
    if ends_with check-plain mutex 0 >/dev/null; then
        echo "thread-sanitizer: this toolchain tells the sanitizer of Mutex itself; swift-mutex.c can go"
    fi
    if ends_with check-plain "early continuation" 0 >/dev/null; then
        echo "thread-sanitizer: this toolchain tells the sanitizer of early continuations; swift-continuation.c can go"
    fi
}

[ "$(uname -s)" = Linux ] || fail "for Linux; elsewhere, 'swift test --sanitize=thread' does"
mkdir -p "$build"
rm -rf "$reports"
mkdir "$reports"
# Linked into every executable. Each says what it stands in for.
objects=()
for name in swift-mutex swift-continuation; do
    clang -Wall -Wextra -Werror -O2 -fPIC -c "Scripts/tsan/$name.c" -o "$build/$name.o"
    objects+=(-Xlinker "$build/$name.o")
done
check_sanitizer

arguments=(--sanitize=thread --scratch-path "$build" "${objects[@]}")
SWIFT_DETERMINISTIC_HASHING=1 swift build --build-tests "${arguments[@]}"

# Everything is ten times as slow: hundreds of tests at once would leave each other no processor within their waits.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=8
# The sanitizer writes to one file for each process, so that reports cannot be lost among the tests' output.
code=0
# Of the random sequences a few, which touch the same code as many.
for sequences in INTERLEAVINGS CACHE_SEQUENCES CIRCUIT_SEQUENCES COALESCING EXCHANGES HEDGE_RACES HOST_SCHEDULES LINE_SEQUENCES \
    MERGINGS PAGED_LISTS POOL_LIVES RETRY_SEQUENCES SHARED_WORK TOKENS; do
    name=RUNWAY_$sequences
    export "$name=${!name:-100}"
done
export RUNWAY_JSON_DOCUMENTS=${RUNWAY_JSON_DOCUMENTS:-2000}
TSAN_OPTIONS="$options:suppressions=$PWD/Scripts/tsan/suppressions.txt:log_path=$reports/process" \
    swift test --skip-build "${arguments[@]}" --disable-xctest --filter "${1:-.}" || code=$?

count=$(cat "$reports"/* 2>/dev/null | grep -c 'WARNING: ThreadSanitizer' || true)
if [ "$count" -gt 0 ]; then
    cat "$reports"/*
    fail "$count reports, in .build-tsan/reports (swift test ended with $code)"
fi
[ "$code" -eq 0 ] || fail "nothing reported, but swift test ended with $code"
echo "thread-sanitizer: nothing reported, every test passed"
