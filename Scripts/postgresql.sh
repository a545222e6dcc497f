#!/usr/bin/env bash
# Runs the tests of RunwayPostgreSQL, "runway serve --log" with "runway log", "runway serve --sync" with "runway sync", and the crash test with
# two servers, for records, changes, event streams, conversations and spaces, over a real PostgreSQL server, which is started for it in a
# temporary folder.
# Installs Debian's server and libpq where they are missing. Needs a debug build: what the package trait PostgreSQL adds is compiled against
# its modules, which takes a minute and not a second build. Arguments: the seconds of the crash test, 15 by default, or `install`,
# which only installs, or `probes` and the seconds of Scripts/sync-probes.sh with two servers, which is all that runs then.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

[ -e /usr/include/postgresql/libpq-fe.h ] && ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || {
    [ "$(id -u)" -eq 0 ] || { echo "postgresql.sh: run as root once, or install these first: postgresql libpq-dev" >&2; exit 1; }
    apt-get update -qq
    apt-get install -y -qq postgresql libpq-dev >/dev/null
}
[ "${1:-}" = install ] && exit
programs=$(dirname "$(ls /usr/lib/postgresql/*/bin/initdb | sort -V | tail -n 1)")
work=$(mktemp -d)
# The server does not run as root.
as_user() { if [ "$(id -u)" -eq 0 ]; then (cd / && setpriv --reuid=postgres --regid=postgres --clear-groups "$@"); else "$@"; fi; }
servers=()
finish() {
    for server in "${servers[@]}"; do kill -9 "$server" 2>/dev/null || true; done
    as_user "$programs/pg_ctl" -D "$work/data" -m immediate stop >/dev/null 2>&1 || true
    rm -rf "$work"
}
trap finish EXIT
mkdir "$work/data" "$work/socket"
if [ "$(id -u)" -eq 0 ]; then
    chmod 755 "$work"
    chown postgres "$work/data" "$work/socket"
fi
as_user "$programs/initdb" -D "$work/data" -U runway -A trust --no-sync >/dev/null
# No port: the socket's folder is its own, so that any number of these servers may run.
as_user "$programs/pg_ctl" -D "$work/data" -w -t 300 -l "$work/data/log" \
    -o "-c listen_addresses='' -c unix_socket_directories='$work/socket' -c max_connections=200" start >/dev/null ||
    { cat "$work/data/log" >&2; exit 1; }
RUNWAY_POSTGRESQL="postgres:///postgres?host=$work/socket&user=runway"
export RUNWAY_POSTGRESQL

. Scripts/debug-build.sh
import_headers RunwayLibPQ
flags+=(-enable-testing -D PostgreSQL -D Command -D Transport -D Signing -D Server -D Storage -D Pins)
compile RunwayPostgreSQL Sources/RunwayPostgreSQL
compile RunwayCommand Sources/RunwayCommand
if [ "${1:-}" != probes ]; then
    compile RunwayPostgreSQLTests Tests/RunwayPostgreSQLTests
    compile RunwayCrashTest Sources/RunwayCrashTest
    compile_test_main PostgreSQLTestMain
fi
collect_objects '^RunwayPostgreSQL'
# Arguments: the program, its modules.
link() {
    swiftc -use-ld=lld "${@:2}" "$work/RunwayPostgreSQL.o" "$work/dependencies.a" -lz -lsqlite3 -lpq -lstdc++ -lTesting -o "$1"
}
link "$work/runway" "$work/RunwayCommand.o"
if [ "${1:-}" = probes ]; then
    as_user "$programs/createdb" -h "$work/socket" -U runway spaces
    TMPDIR=$work python3 -B Scripts/sync-probes.py "$work/runway" --seconds "${2:-600}" --probes 16 --servers 2 \
        --place "postgres:///spaces?host=$work/socket&user=runway"
    exit
fi
link "$work/tests" "$work/PostgreSQLTestMain.o" "$work/RunwayPostgreSQLTests.o"
link "$work/crash-test" "$work/RunwayCrashTest.o"
"$work/tests" --testing-library swift-testing >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
tail -n 1 "$work/log"

# Two servers of the command share a database. It has a batch once that both are sent, also after one was killed.
as_user "$programs/createdb" -h "$work/socket" -U runway served
place="postgres:///served?host=$work/socket&user=runway"
urls=()
for name in first second; do
    "$work/runway" serve --log "$place" --plain >"$work/$name" 2>&1 &
    servers+=($!)
    for _ in $(seq 1200); do grep -q 'http:' "$work/$name" && break || sleep 0.1; done
    urls+=("$(grep -o 'http:[^ ]*' "$work/$name")") || { cat "$work/$name" >&2; exit 1; }
done
# Arguments: which server, the number of the batch, the status that is expected.
send() {
    local id="0199a000-0000-7000-8000-00000000000$2" status
    status=$(curl -s -o /dev/null -w '%{http_code}' -H 'Content-Type: application/json' --data "{\"installation\":\"2f1c0000-0000-4000-8000-000000000001\",
        \"stream\":\"9b6e0000-0000-4000-8000-000000000001\",\"batch\":$2,\"sent\":1,
        \"records\":[{\"seq\":$2,\"id\":\"$id\",\"time\":1,\"boot\":\"\",\"uptime\":1,\"session\":\"$id\",
        \"name\":\"opened\"}]}" "${urls[$1]}")
    [ "$status" = "$3" ] || { echo "postgresql.sh: batch $2 got $status from server $1, not $3" >&2; exit 1; }
}
send 0 1 200
send 1 1 200
send 1 3 409
kill -9 "${servers[0]}"
wait "${servers[0]}" 2>/dev/null || true
send 1 2 200
counted=$("$work/runway" log "$place" | tail -n 1)
[ "$counted" = "2  in all, from 1 installation" ] || { echo "postgresql.sh: runway log says: $counted" >&2; exit 1; }
code=0
"$work/runway" log "postgres:///none?host=$work/socket&user=runway&password=secret" >"$work/log" 2>&1 || code=$?
[ "$code" = 2 ] && grep -q "The log can't be read" "$work/log" && ! grep -q secret "$work/log" ||
    { echo "postgresql.sh: an absent database is not reported (exit code $code)" >&2; cat "$work/log" >&2; exit 1; }
as_user "$programs/createdb" -h "$work/socket" -U runway empty
code=0
"$work/runway" log "postgres:///empty?host=$work/socket&user=runway" >"$work/log" 2>&1 || code=$?
tables=$(as_user "$programs/psql" -h "$work/socket" -U runway -d empty -Atc \
    "SELECT count(*) FROM pg_class WHERE relname LIKE 'runway%'")
[ "$code" = 2 ] && grep -q "The database has no action log" "$work/log" && [ "$tables" = 0 ] ||
    { echo "postgresql.sh: runway log changes a database that it reads (exit code $code, $tables tables)" >&2; cat "$work/log" >&2; exit 1; }
echo "runway serve and runway log: $counted"

# Two servers of the command share spaces. One of them creates a space, and the other one has it.
as_user "$programs/createdb" -h "$work/socket" -U runway spaces
place="postgres:///spaces?host=$work/socket&user=runway"
code=0
"$work/runway" sync spaces "$place" >"$work/log" 2>&1 || code=$?
tables=$(as_user "$programs/psql" -h "$work/socket" -U runway -d spaces -Atc "SELECT count(*) FROM pg_class WHERE relname LIKE 'runway%'")
[ "$code" = 2 ] && grep -q "The database has none" "$work/log" && [ "$tables" = 0 ] ||
    { echo "postgresql.sh: runway sync changes a database that it reads (exit code $code, $tables tables)" >&2; cat "$work/log" >&2; exit 1; }
space=0199a000-0000-7000-8000-000000000009
for name in third fourth; do
    "$work/runway" serve --sync "$place" --plain >"$work/$name" 2>&1 &
    servers+=($!)
    for _ in $(seq 1200); do grep -q 'http:' "$work/$name" && break || sleep 0.1; done
    url=$(grep -m 1 -o 'http:[^ ]*/sync' "$work/$name") || { cat "$work/$name" >&2; exit 1; }
    curl -s "$url/$space/pull?device=0199a000-0000-7000-8000-000000000001&epoch=00000000-0000-0000-0000-000000000000&number=0&tag=0000000000000000&offset=0&schema=0" \
        >"$work/page.$name"
done
[ -s "$work/page.third" ] && cmp "$work/page.third" "$work/page.fourth" && "$work/runway" sync spaces "$place" | tee "$work/log" && grep -q "$space" "$work/log" ||
    { echo "postgresql.sh: two servers do not share a space" >&2; cat "$work"/page.* >&2; exit 1; }

TMPDIR=$work "$work/crash-test" --seconds "${1:-15}" --writers 2 --changers 2 --servers 2 --postgres "$RUNWAY_POSTGRESQL"
TMPDIR=$work "$work/crash-test" streams --time "${1:-15}" --readers 20 --hubs 2 --database "$RUNWAY_POSTGRESQL"
TMPDIR=$work "$work/crash-test" chat --time "${1:-15}" --database "$RUNWAY_POSTGRESQL"
TMPDIR=$work "$work/crash-test" sync --time "${1:-15}" --database "$RUNWAY_POSTGRESQL"
# Arguments: a crash test, a bug, what the finding says.
find_bug() {
    local code seconds
    # A machine that is busy with other things is given more time.
    for seconds in 5 15 45; do
        code=0
        TMPDIR=$work "$work/crash-test" "$1" --time "$seconds" --database "$RUNWAY_POSTGRESQL" --bug "$2" >"$work/log" || code=$?
        [ "$code" = 0 ] || break
    done
    [ "$code" = 1 ] && grep -q "$3" "$work/log" || {
        cat "$work/log"
        echo "postgresql.sh: the planted bug $2 was not found (exit code $code)" >&2
        exit 1
    }
    echo "The planted bug $2 was found: $(grep -m 1 "$3" "$work/log" | cut -c 1-200)"
}
find_bug chat forgottenMessages "are not those that were written"
find_bug chat lastingMembers "not that eve alone has left"
find_bug sync forgottenSpaces "A device can't go on"
