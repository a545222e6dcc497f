#!/usr/bin/env bash
# Runs the tests of content codings with Brotli and zstd, which package traits turn on. Installs Debian's libraries where they are missing.
#
# The first run builds every dependency anew into .build-codings, which takes a quarter of an hour on two cores.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

Scripts/codings-libraries.sh
missing=()
[ -e /usr/include/zlib.h ] || missing+=(zlib1g-dev)
command -v brotli >/dev/null || missing+=(brotli)
command -v zstd >/dev/null || missing+=(zstd)
if [ ${#missing[@]} -gt 0 ]; then
    [ "$(id -u)" -eq 0 ] || { echo "codings.sh: run as root once, or install these first: ${missing[*]}" >&2; exit 1; }
    apt-get update -qq
    apt-get install -y -qq "${missing[@]}" >/dev/null
fi
build=(--traits Command,Brotli,Zstd --scratch-path "$PWD/.build-codings")
SWIFT_DETERMINISTIC_HASHING=1 swift build --build-tests "${build[@]}"
swift test --skip-build "${build[@]}" --disable-xctest \
    --filter 'RunwayTransportTests\.(ContentDecoderTests|ContentCodingTests|WireCodingTests)'
