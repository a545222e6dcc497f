#!/usr/bin/env bash
# Installs the libraries of the package traits Brotli and Zstd, Debian's, where their header files are missing.
set -euo pipefail

missing=()
[ -e /usr/include/brotli/decode.h ] || missing+=(libbrotli-dev)
[ -e /usr/include/zstd.h ] || missing+=(libzstd-dev)
[ ${#missing[@]} -gt 0 ] || exit 0
[ "$(id -u)" -eq 0 ] || { echo "codings-libraries.sh: run as root once, or install these first: ${missing[*]}" >&2; exit 1; }
apt-get update -qq
apt-get install -y -qq "${missing[@]}" >/dev/null
