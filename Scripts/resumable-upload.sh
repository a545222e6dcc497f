#!/usr/bin/env bash
# A large resumable upload whose connection is reset ten times: whether it is byte-identical at the end (SHA-256), and how many bytes the
# client wrote. It fails if they are more than 1.05 times a file of 1 GiB or more, or 1.5 times a smaller one: a cut loses what the buffers of
# the sockets hold, however large the file is. Client, server and the path that is cut run in one process.
#
#   Scripts/resumable-upload.sh [MEBIBYTES]     the default is 1024; wants twice that on the disk of TMPDIR
#
# Wants the tests built: swift build --build-tests. RUNWAY_TESTS names another build of them.
set -euo pipefail

size=${1:-1024}
tests=${RUNWAY_TESTS:-.build/debug/runwayPackageTests.xctest}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

dd if=/dev/urandom of="$dir/film" bs=1M count="$size" status=none
digest=$(sha256sum "$dir/film" | cut -d ' ' -f 1)
TMPDIR=$dir RUNWAY_UPLOAD_FILE=$dir/film "$tests" --testing-library swift-testing --filter UploadMeasurement >"$dir/log" 2>&1 || {
    cat "$dir/log"
    exit 1
}
grep -E "^uploaded" "$dir/log"
received=$(sed -n 's/^uploaded.* SHA-256 //p' "$dir/log")
if [ "$received" != "$digest" ]; then
    echo "resumable-upload.sh: the file has SHA-256 $digest, and the server received ${received:-nothing}" >&2
    exit 1
fi
echo "byte-identical"
