#!/usr/bin/env bash
# Runs the tests under AddressSanitizer. Fails at a report, or where a test fails.
#
#   Scripts/address-sanitizer.sh                     every test
#   Scripts/address-sanitizer.sh 'RunwayJSONTests\.' the tests whose name matches
#
# The first run builds every dependency anew into .build-asan, which takes a quarter of an hour on two cores. What is never
# freed is not reported: the runtime and the singletons of SwiftNIO keep things for the life of a process. One test is left out: it measures
# memory, of which the sanitizer takes more than what is measured.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Everything is several times as slow: hundreds of tests at once would leave each other no processor within their waits.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=8 ASAN_OPTIONS=detect_leaks=0
export RUNWAY_INTERLEAVINGS=${RUNWAY_INTERLEAVINGS:-300} RUNWAY_JSON_DOCUMENTS=${RUNWAY_JSON_DOCUMENTS:-20000}
build=(--sanitize=address --scratch-path "$PWD/.build-asan")
SWIFT_DETERMINISTIC_HASHING=1 swift build --build-tests "${build[@]}"
swift test --skip-build "${build[@]}" --disable-xctest --filter "${1:-.}" --skip largeBodiesPassInConstantMemory
echo "address-sanitizer: nothing reported, every test passed"
