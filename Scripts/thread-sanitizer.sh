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
mutex=$build/swift-mutex.o

fail() {
    echo "thread-sanitizer: $*" >&2
    exit 1
}

# Exit code 66 is a process with reports. Such a process goes on after the first, so that one run shows them all.
options="halt_on_error=0:exitcode=66:second_deadlock_stack=1"
suppressions="suppressions=$PWD/Scripts/tsan/suppressions.txt"

# Builds one of the programs that this script checks itself with: arguments are the program, its source, compiler options.
compile() {
    swiftc -swift-version 6 -parse-as-library -sanitize=thread "${@:3}" "Scripts/tsan/$2.swift" -o "$build/$1" ||
        fail "the program that this script checks itself with does not build"
}

# Tells whether a program ends as it should: arguments are its name, its exit code, and the sanitizer's options.
ends_with() {
    local program=$build/$1 code=0
    TSAN_OPTIONS=$3 "$program" >"$program.log" 2>&1 || code=$?
    [ "$code" -eq "$2" ] || { cat "$program.log"; return 1; }
}

# A toolchain may rename what swift-mutex.c stands in for and what is suppressed, or may come to need it no longer. Without
# these checks the results below could be all noise, or all silence.
check_sanitizer() {
    compile handover-plain handover
    compile handover-locked handover -Xlinker "$mutex"
    compile handover-unlocked handover -D UNLOCKED -Xlinker "$mutex"
    compile resumption resumption -Xlinker "$mutex"
    ends_with handover-locked 0 "$options:$suppressions" ||
        fail "a locked program is reported: see whether Scripts/tsan/swift-mutex.c still fits this toolchain"
    ends_with handover-unlocked 66 "$options:$suppressions" || fail "a race is not reported"
    ends_with resumption 0 "$options:$suppressions" ||
        fail "resumed tasks are reported: see whether Scripts/tsan/suppressions.txt still fits this toolchain"
    if ends_with handover-plain 0 "$options" >/dev/null; then
        echo "thread-sanitizer: this toolchain tells the sanitizer of Mutex itself; Scripts/tsan/swift-mutex.c can go"
    fi
    if ends_with resumption 0 "$options" >/dev/null; then
        echo "thread-sanitizer: this toolchain tells the sanitizer of resumed tasks; the suppression can go"
    fi
}

[ "$(uname -s)" = Linux ] || fail "for Linux; elsewhere, 'swift test --sanitize=thread' does"
mkdir -p "$build"
rm -rf "$reports"
mkdir "$reports"
clang -Wall -Wextra -Werror -O2 -fPIC -c Scripts/tsan/swift-mutex.c -o "$mutex"
check_sanitizer

# Everything is ten times as slow: hundreds of tests at once would leave each other no processor within their waits.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=8
# The sanitizer writes to one file for each process, so that reports cannot be lost among the tests' output.
code=0
export RUNWAY_INTERLEAVINGS=${RUNWAY_INTERLEAVINGS:-300} RUNWAY_JSON_DOCUMENTS=${RUNWAY_JSON_DOCUMENTS:-2000}
TSAN_OPTIONS="$options:$suppressions:log_path=$reports/process" \
    swift test --sanitize=thread --scratch-path "$build" -Xlinker "$mutex" --disable-xctest \
    --filter "${1:-.}" || code=$?

count=$(cat "$reports"/* 2>/dev/null | grep -c 'WARNING: ThreadSanitizer' || true)
if [ "$count" -gt 0 ]; then
    cat "$reports"/*
    fail "$count reports, in .build-tsan/reports (swift test ended with $code)"
fi
[ "$code" -eq 0 ] || fail "nothing reported, but swift test ended with $code"
echo "thread-sanitizer: nothing reported, every test passed"
