#!/usr/bin/env bash
# Devices as processes (runway sync-probe) write to one space while they, the servers and the network between them fail; then all have to agree
# within 11 s (waits for a processor not counted), with no new write, and every acknowledged write has to be in the log once. Then plants bugs that the check must find.
#
#   Scripts/sync-probes.sh                  45 s of faults with 4 devices over SQLite; a minute in all
#   Scripts/sync-probes.sh 600 postgres     600 s with 16 devices and two servers over PostgreSQL
#   Scripts/sync-probes.sh runs 100         100 runs of 3 s, which look for stalls
#
# Needs a debug build. Scripts/sync-probes.py --help has the checks, and options to repeat a seed. RUNWAY names another program.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case "${1:-}" in -h | --help) sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit ;; esac
if [ "${2:-}" = postgres ]; then exec Scripts/postgresql.sh probes "$1"; fi
tool=${RUNWAY:-$(swift build --show-bin-path)/runway}
if [ "${1:-}" = runs ]; then exec python3 -B Scripts/sync-probes.py "$tool" --seconds 3 --runs "${2:-100}"; fi

work=$(mktemp -d)
export TMPDIR=$work
bugs=
finish() {
    [ -z "$bugs" ] || kill -- "-$bugs" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT

find_bugs() {
    local bug code
    for bug in lostWrite changedRow deaf repeated; do
        code=0
        python3 -B Scripts/sync-probes.py "$tool" --seconds 2 --probes 2 --plant "$bug" >"$work/findings" 2>&1 || code=$?
        # 1 is a finding; anything else is a failure of the test itself.
        [ "$code" = 1 ] || {
            cat "$work/findings"
            echo "sync-probes.sh: the planted bug $bug was not found (exit code $code)"
            return 1
        }
        echo "The planted bug $bug was found: $(grep -m 1 -o 'FOUND .*' "$work/findings" | cut -c 7-160)"
    done
}
# The planted bugs mostly wait for devices that never agree. A process group of their own ends with this script.
set -m
find_bugs >"$work/bugs" &
bugs=$!
set +m
python3 -B Scripts/sync-probes.py "$tool" --seconds "${1:-45}"
code=0
wait "$bugs" || code=$?
bugs=
cat "$work/bugs"
exit "$code"
