#!/usr/bin/env bash
# Runs the same calls with `runway call`, httpie and curl against httpbin, and compares what each of the three sent: method,
# target, the fields that matter, and the body. It installs httpie, httpbin and gunicorn from PyPI, and needs a built `runway` and curl.
#
#   Scripts/httpbin.sh                          a table, and what differs
#   HTTPBIN_VENV=/tmp/venv Scripts/httpbin.sh   in a Python environment that stays, for a faster next start
#   HTTPBIN_VENV=/tmp/venv Scripts/httpbin.sh install   only installs there
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

dir=$(mktemp -d)
server=
# Called by the trap.
# shellcheck disable=SC2317
end() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf "$dir"
}
trap end EXIT

venv=${HTTPBIN_VENV:-$dir/venv}
if ! "$venv/bin/python" -c 'import httpbin, gunicorn, httpie' 2>/dev/null; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet httpbin==0.10.2 gunicorn==23.0.0 httpie==3.2.4
fi

[ "${1:-}" = install ] && exit

runway=${RUNWAY:-$(swift build --show-bin-path)/runway}
[ -x "$runway" ] || { echo "httpbin.sh: build it first: swift build --product runway" >&2; exit 1; }

mkfifo "$dir/said"
"$venv/bin/gunicorn" --bind 127.0.0.1:0 --workers 2 --threads 4 httpbin:app 2>"$dir/said" &
server=$!
exec 3<"$dir/said"
port=
while read -r line <&3; do
    case $line in *"Listening at: http://127.0.0.1:"*) port=${line#*127.0.0.1:}; port=${port%% *}; break ;; esac
done
[ -n "$port" ] || { echo "httpbin.sh: gunicorn did not start" >&2; exit 1; }
cat <&3 >/dev/null &

"$venv/bin/python" Scripts/httpbin/compare.py "$runway" "$venv/bin/http" "$port" "$dir"
