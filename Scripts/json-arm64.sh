#!/usr/bin/env bash
# Tests the vector scans of RunwayJSONSIMD against a scan written byte by byte: on this machine, with sanitizers, and for
# arm64, built with Debian's cross compiler and run under qemu-user. Installs both where they are missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

missing=()
command -v aarch64-linux-gnu-gcc >/dev/null || missing+=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross)
command -v qemu-aarch64 >/dev/null || missing+=(qemu-user)
if [ ${#missing[@]} -gt 0 ]; then
    echo "json-arm64.sh: installing ${missing[*]}" >&2
    apt-get update -qq && apt-get install -y -qq "${missing[@]}" >/dev/null
fi

build=$PWD/.build-fuzz
mkdir -p "$build"
sources=(Sources/RunwayJSONSIMD/*.c Fuzz/JSON/scan_test.c)
options=(-std=c11 -O2 -Wall -Wextra -Werror -ISources/RunwayJSONSIMD/include)

echo "json-arm64: this machine"
clang "${options[@]}" -g -fsanitize=address,undefined -fno-sanitize-recover=all -fuse-ld=lld "${sources[@]}" -o "$build/scan-test"
ASAN_OPTIONS=detect_leaks=0 "$build/scan-test" 50000
clang "${options[@]}" "${sources[@]}" -o "$build/scan-test"
"$build/scan-test" 200000

echo "json-arm64: arm64 under qemu-user"
aarch64-linux-gnu-gcc "${options[@]}" -static "${sources[@]}" -o "$build/scan-test-arm64"
qemu-aarch64 "$build/scan-test-arm64" 50000
