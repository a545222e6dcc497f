#!/usr/bin/env bash
# Kills clients with action logs and offline queues and their server at random, cuts the network between them, and checks that every record
# that was acknowledged arrived once and that every change had one effect; then plants bugs that the check must find. Arguments: the
# seconds of the first part, 20 by default; the whole takes a minute then. Needs a build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
tool=$(swift build --show-bin-path)/RunwayCrashTest
"$tool" --seconds "${1:-20}"
# Arguments: a bug, and the clients that have it.
find_bug() {
    local code=0
    "$tool" --seconds 5 --plant "$@" >"$TMPDIR/findings" || code=$?
    # 1 is a finding; anything else is a failure of the test itself.
    [ "$code" = 1 ] || {
        cat "$TMPDIR/findings"
        echo "crash-test.sh: the planted bug $* was not found (exit code $code)" >&2
        exit 1
    }
    echo "The planted bug $1 was found: $(sed -n 2p "$TMPDIR/findings")"
}
for bug in earlyAcknowledgement changedNumber earlyRemoval; do find_bug "$bug" --writers 3 --changers 0; done
for bug in earlyAcknowledgement changedKey overtaking forgottenKeys; do find_bug "$bug" --writers 0 --changers 3; done
