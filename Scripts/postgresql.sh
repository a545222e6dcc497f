#!/usr/bin/env bash
# Runs the tests of RunwayPostgreSQL and the crash test over a real PostgreSQL server, which is started for it in a temporary folder.
# Installs Debian's server and libpq where they are missing. Needs a debug build: what the package trait PostgreSQL adds is compiled against
# its modules, which takes a minute and not a second build. Arguments: the seconds of the crash test, 15 by default.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

[ -e /usr/include/postgresql/libpq-fe.h ] && ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || {
    [ "$(id -u)" -eq 0 ] || { echo "postgresql.sh: run as root once, or install these first: postgresql libpq-dev" >&2; exit 1; }
    apt-get update -qq
    apt-get install -y -qq postgresql libpq-dev >/dev/null
}
programs=$(dirname "$(ls /usr/lib/postgresql/*/bin/initdb | sort -V | tail -n 1)")
work=$(mktemp -d)
# The server does not run as root.
as_user() { if [ "$(id -u)" -eq 0 ]; then (cd / && setpriv --reuid=postgres --regid=postgres --clear-groups "$@"); else "$@"; fi; }
trap 'as_user "$programs/pg_ctl" -D "$work/data" -m immediate stop >/dev/null 2>&1 || true; rm -rf "$work"' EXIT
mkdir "$work/data" "$work/socket"
if [ "$(id -u)" -eq 0 ]; then
    chmod 755 "$work"
    chown postgres "$work/data" "$work/socket"
fi
as_user "$programs/initdb" -D "$work/data" -U runway -A trust --no-sync >/dev/null
# No port: the socket's folder is its own, so that any number of these servers may run.
as_user "$programs/pg_ctl" -D "$work/data" -w -l "$work/data/log" \
    -o "-c listen_addresses='' -c unix_socket_directories='$work/socket' -c max_connections=200" start >/dev/null ||
    { cat "$work/data/log" >&2; exit 1; }
RUNWAY_POSTGRESQL="postgres:///postgres?host=$work/socket&user=runway"
export RUNWAY_POSTGRESQL

built=$(realpath .build/debug)
package=$(basename "$PWD" | tr '[:upper:]' '[:lower:]' | tr -c 'a-z0-9_\n' _)
printf 'module RunwayLibPQ { header "%s" export * }\n' "$PWD/Sources/RunwayLibPQ/include/RunwayLibPQ.h" >"$work/module.modulemap"
maps=(-Xcc "-fmodule-map-file=$work/module.modulemap")
while read -r map; do
    maps+=(-Xcc "-fmodule-map-file=$map")
done < <(find -L "$built" -maxdepth 2 -name module.modulemap ! -path '*/RunwayLibPQ.build/*'
    find .build/checkouts -path '*/Sources/*/include/module.modulemap'
    find .build/checkouts/GRDB.swift -path '*GRDBSQLite*' -name module.modulemap)
traits=(-D PostgreSQL -D Command -D Transport -D Signing -D Server -D Storage -D Pins)
features=(-enable-upcoming-feature ExistentialAny -enable-upcoming-feature MemberImportVisibility
    -enable-upcoming-feature InternalImportsByDefault -enable-upcoming-feature NonisolatedNonsendingByDefault)
# Arguments: the module, the folder of its sources.
compile() {
    local files
    mapfile -t files < <(find "$2" -name '*.swift')
    swiftc -swift-version 6 -wmo -parse-as-library -enable-testing -warnings-as-errors -package-name "$package" -module-name "$1" \
        "${traits[@]}" "${features[@]}" "${maps[@]}" -I "$work" -I "$built/Modules" -emit-module-path "$work/$1.swiftmodule" \
        -c -o "$work/$1.o" "${files[@]}" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
}
compile RunwayPostgreSQL Sources/RunwayPostgreSQL
compile RunwayPostgreSQLTests Tests/RunwayPostgreSQLTests
compile RunwayCrashTest Sources/RunwayCrashTest
mkdir "$work/main"
echo 'import Testing
@main struct Main { static func main() async { await Testing.__swiftPMEntryPoint() as Never } }' >"$work/main/Main.swift"
compile PostgreSQLTestMain "$work/main"
# All that the debug build has compiled, of which the linker takes what is needed.
find -L "$built" -path '*.build/*.o' ! -path '*/RunwayPostgreSQL*.build/*' ! -path '*/RunwayC*.build/*' ! -path '*Tests.build/*' \
    ! -path '*-tool.build/*' ! -path '*/runwayPackage*' -printf '"%p"\n' >"$work/objects"
ar --thin -qcs "$work/dependencies.a" "@$work/objects"
# Arguments: the program, its modules.
link() {
    swiftc -use-ld=lld "${@:2}" "$work/RunwayPostgreSQL.o" "$work/dependencies.a" -lz -lsqlite3 -lpq -lstdc++ -lTesting -o "$1"
}
link "$work/tests" "$work/PostgreSQLTestMain.o" "$work/RunwayPostgreSQLTests.o"
link "$work/crash-test" "$work/RunwayCrashTest.o"
"$work/tests" --testing-library swift-testing >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
tail -n 1 "$work/log"
TMPDIR=$work "$work/crash-test" --seconds "${1:-15}" --postgres "$RUNWAY_POSTGRESQL"
