#!/usr/bin/env bash
# Kills writers of action logs and their server at random, cuts the network between them, and checks that every record that was
# acknowledged arrived once; then plants bugs that the check must find. Arguments: the seconds of the first part, 30 by default. Needs a
# build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
tool=$(swift build --show-bin-path)/RunwayCrashTest
"$tool" --seconds "${1:-30}"
for bug in earlyAcknowledgement changedNumber earlyRemoval; do
    code=0
    "$tool" --seconds 8 --plant "$bug" >/dev/null || code=$?
    # 1 is a finding; anything else is a failure of the test itself.
    [ "$code" = 1 ] || { echo "crash-test.sh: the planted bug $bug was not found (exit code $code)" >&2; exit 1; }
    echo "The planted bug $bug was found."
done
