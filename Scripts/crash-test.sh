#!/usr/bin/env bash
# Kills clients with action logs and offline queues and their server at random, cuts the network between them, and checks that every record
# that was acknowledged arrived once and that every change had one effect, also one that was being sent first when its client was killed, and
# one that a gateway refused after it may have been sent; then plants bugs that the check must find. So are the server of an event stream, and
# programs that write and migrate tables, or store files beside rows, and, beside the clients, a device that installs bundles. Argument: the
# seconds of each part without planted bugs; the defaults are 60, 20, 12, 8, and 60 for bundles. The whole takes four minutes then. Needs a
# build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

TMPDIR=$(mktemp -d)
export TMPDIR
bundles=
trap 'kill "$bundles" 2>/dev/null || true; rm -rf "$TMPDIR"' EXIT
tool=$(swift build --show-bin-path)/RunwayCrashTest
# A device that installs bundles, good and broken ones, is killed. It and the clients mostly wait.
"$tool" bundles --time "${1:-60}" >"$TMPDIR/bundles" 2>&1 &
bundles=$!
clients=0 code=0
"$tool" --seconds "${1:-60}" || clients=$?
# It ends its own processes.
wait "$bundles" || code=$?
bundles=
cat "$TMPDIR/bundles"
[ "$clients$code" = 00 ] || exit 1
# Arguments: a bug, and the clients that have it.
find_bug() {
    local code seconds
    # A machine that is busy with other things is given more time.
    for seconds in 4 10 30; do
        code=0
        "$tool" --seconds "$seconds" --plant "$@" >"$TMPDIR/findings" || code=$?
        [ "$code" = 0 ] || break
    done
    # 1 is a finding; anything else is a failure of the test itself.
    [ "$code" = 1 ] || {
        cat "$TMPDIR/findings"
        echo "crash-test.sh: the planted bug $* was not found (exit code $code)" >&2
        exit 1
    }
    echo "The planted bug $1 was found: $(sed -n 2p "$TMPDIR/findings")"
}
for bug in earlyAcknowledgement changedNumber earlyRemoval; do find_bug "$bug" --writers 3 --changers 0; done
for bug in earlyAcknowledgement changedKey overtaking forgottenKeys unwritten; do find_bug "$bug" --writers 0 --changers 3; done

# Arguments: a command of the tool, a bug, further arguments.
find_bug_of() {
    local code seconds
    for seconds in 4 10 30; do
        code=0
        "$tool" "$1" --time "$seconds" --bug "${@:2}" >"$TMPDIR/findings" || code=$?
        [ "$code" = 0 ] || break
    done
    [ "$code" = 1 ] || {
        cat "$TMPDIR/findings"
        echo "crash-test.sh: the planted bug $* was not found (exit code $code)" >&2
        exit 1
    }
    echo "The planted bug $2 was found: $(sed -n 2p "$TMPDIR/findings")"
}
# The server of an event stream is killed under a hundred clients.
"$tool" streams --time "${1:-20}"
for bug in forgottenEvents earlyDelivery; do find_bug_of streams "$bug" --readers 10; done
# Programs of two versions of an app migrate one file up and down, write and stage.
"$tool" tables --time "${1:-12}"
for bug in earlyAcknowledgement halves earlyVersion earlyCompletion; do find_bug_of tables "$bug"; done
# Programs that store files beside rows are killed.
"$tool" files --time "${1:-8}"
for bug in lateFile earlyRemoval miscount; do find_bug_of files "$bug"; done
for bug in inPlace uncounted; do find_bug_of bundles "$bug"; done
