#!/usr/bin/env bash
# A client of spaces in Python (Scripts/peers/sync_client.py, written from docs/formats.md only) and `runway sync-probe` write to one space of
# `runway serve --sync`, and have the same rows. Needs a debug build; RUNWAY names another program.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tool=${RUNWAY:-$(swift build --show-bin-path)/runway}
work=$(mktemp -d)
server=
# Called by the trap.
# shellcheck disable=SC2317
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT
fail() {
    echo "sync-peer.sh: $1" >&2
    exit 1
}

"$tool" serve --sync "$work/spaces.sqlite" --plain >"$work/server" 2>&1 &
server=$!
for _ in $(seq 1200); do grep -q 'http:' "$work/server" && break || sleep 0.1; done
url=$(grep -o 'http:[^ ]*/sync' "$work/server") || { cat "$work/server" >&2; exit 1; }
space=5b0d2c5e-0000-4000-8000-000000000001
row() { printf '5b0d2c5e-0000-4000-8000-0000000001%02d' "$1"; }
client() { python3 -B Scripts/peers/sync_client.py "$url" "$space" "$@"; }
coproc probe { "$tool" sync-probe --server "${url%/sync}" --space "$space" --file "$work/device.sqlite" 2>"$work/probe"; }
# Sends the probe its arguments as a line, and prints its response.
ask() {
    local line
    # On a machine that stands still, requests end by their deadlines: then the line is sent again.
    for _ in $(seq 20); do
        echo "$*" >&"${probe[1]}"
        read -r -t 300 line <&"${probe[0]}" || { cat "$work/probe" >&2; fail "the probe ended at $*"; }
        case "$*$line" in *'"do":"sync"'*'"problem":"offline"'*) ;; *) break ;; esac
    done
    case "$line" in *'"error"'*) fail "$*: $line" ;; *'"problem":"'*) fail "$*: $line" ;; esac
    echo "$line"
}
# Compares the rows of both: agree DESCRIPTION.
agree() {
    ask '{"do":"sync"}' >/dev/null
    ask '{"do":"read","table":"item"}' >"$work/shown"
    client rows >"$work/rows"
    python3 - "$work/shown" "$work/rows" <<'PYTHON' || fail "$1: the rows differ"
import json, sys

shown = {row["row"]: row["values"] for row in json.load(open(sys.argv[1]))["rows"]}
rows = {}
for line in open(sys.argv[2]):
    row = json.loads(line)
    rows[row["row"]] = {name: row["values"].get(name) for name in ["a", "b", "c", "n", "rank"]}
if shown != rows:
    sys.exit(f"the probe shows {shown}\nthe client has {rows}")
PYTHON
    client check >"$work/check" || { cat "$work/check" >&2; fail "$1: the snapshot, the log or the digest differ"; }
}

client set item "$(row 1)" '{"a":"from Python \u4e0a\u6d77","n":1}' >"$work/verdict"
client set item "$(row 2)" '{"a":"two","n":9007199254740992,"rank":"b"}' >>"$work/verdict"
agree "inserts of the client"
ask "{\"do\":\"txn\",\"set\":[{\"table\":\"item\",\"row\":\"$(row 1)\",\"values\":{\"b\":\"from the probe\"}}," \
    "{\"table\":\"item\",\"row\":\"$(row 3)\",\"values\":{\"a\":\"three\",\"n\":3}}]}" >/dev/null
ask '{"do":"batch","where":[["n","<",5]],"values":{"c":"small"}}' >/dev/null
agree "writes of the probe"
client set item "$(row 1)" '{"a":"changed","b":null}' >>"$work/verdict"
client delete item "$(row 2)" >>"$work/verdict"
agree "an update and a delete of the client"
ask "{\"do\":\"txn\",\"set\":[{\"table\":\"item\",\"row\":\"$(row 3)\",\"delete\":true}," \
    "{\"table\":\"item\",\"row\":\"$(row 2)\",\"values\":{\"a\":\"again\"}}]}" >/dev/null
agree "a delete of the probe, and an insert of a row that was deleted"
[ "$(grep -c applied "$work/verdict")" = 4 ] || { cat "$work/verdict" >&2; fail "not all writes of the client were applied"; }
echo '{"do":"quit"}' >&"${probe[1]}"
cat "$work/check"
