#!/usr/bin/env bash
# The public Autobahn suite for WebSocket clients, PyPI's autobahntestsuite: all of its cases, whose verdicts come from its own server.
# CASES names a part of them, such as 12.1.*; the default is all.
# Needs a build of the tests. The suite wants Python 2.7: PYTHON names an interpreter of it, the default is the newest of pyenv; it is
# installed in AUTOBAHN, a folder that stays, or in one of its own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder=$(mktemp -d)
server=
# Called by the trap.
# shellcheck disable=SC2317
end() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf "$folder"
}
trap end EXIT

python=${PYTHON:-$(find "${PYENV_ROOT:-$HOME/.pyenv}/versions" -path '*/2.7*/bin/python2.7' 2>/dev/null | sort | tail -n 1)}
[ -n "$python" ] || { echo "autobahn.sh: there is no Python 2.7; set PYTHON" >&2; exit 1; }
packages=${AUTOBAHN:-$folder/packages}
[ -d "$packages/autobahntestsuite" ] || "$python" -m pip install --quiet --target "$packages" autobahntestsuite 2>"$folder/pip.log" ||
    { cat "$folder/pip.log" >&2; exit 1; }

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >"$folder/suite.json" <<JSON
{"url": "ws://127.0.0.1:$port", "outdir": "$folder/reports", "cases": ["${CASES:-*}"], "exclude-cases": [], "exclude-agent-cases": {}}
JSON
(cd "$folder" && exec "$python" -c \
    "import site; site.addsitedir('$packages'); from autobahntestsuite.wstest import run; run()" --mode fuzzingserver --spec suite.json --webport 0) >"$folder/server.log" 2>&1 &
server=$!
for _ in $(seq 600); do
    if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then break; fi
    sleep 0.05
done

RUNWAY_AUTOBAHN=http://127.0.0.1:$port swift test --skip-build --filter 'RunwayTransportTests\.AutobahnTests'
python3 - "$folder/reports/index.json" ${CASES:+"$CASES"} <<'PYTHON'
import collections
import json
import sys

cases = json.load(open(sys.argv[1]))["runway"]
verdicts = collections.Counter(case["behavior"] for case in cases.values())
print("autobahn.sh: %d cases: %s" % (len(cases), ", ".join("%s %d" % pair for pair in sorted(verdicts.items()))))
# NON-STRICT: the outcome is right, and comes later than the suite would like. INFORMATIONAL judges nothing.
bad = [name for name, case in sorted(cases.items()) if case["behavior"] not in ("OK", "NON-STRICT", "INFORMATIONAL")]
if len(sys.argv) < 3 and len(cases) != 517:
    bad.append("%d cases instead of 517" % len(cases))
bad += [name + " (close)" for name, case in sorted(cases.items()) if case["behaviorClose"] not in ("OK", "INFORMATIONAL")]
for verdict, text in (("NON-STRICT", "not strict"), ("INFORMATIONAL", "informational")):
    for name in sorted(name for name, case in cases.items() if case["behavior"] == verdict):
        print("autobahn.sh: %s: %s" % (text, name))
sys.exit("autobahn.sh: failed: " + ", ".join(bad) if bad else 0)
PYTHON
