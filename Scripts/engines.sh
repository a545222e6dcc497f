#!/usr/bin/env bash
# Runs the tests of RunwayScripts, and in them the command runway, with JavaScriptCore and Lua. Installs Debian's libraries where they are missing.
# Needs a debug build: what the package traits Scripts and Lua add is compiled against its modules, which takes seconds and not a second build.
#
#   Scripts/engines.sh                   the tests
#   Scripts/engines.sh install           only installs
#   Scripts/engines.sh address-sanitizer the tests, with the seams of the engines under AddressSanitizer: fails at a report; by hand
#   Scripts/engines.sh benchmark         compiles Benchmarks/Scripts with optimisation, and runs it
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

missing=()
ls /usr/lib/*/libjavascriptcoregtk-4.1.so >/dev/null 2>&1 || missing+=(libjavascriptcoregtk-4.1-dev)
[ -e /usr/include/lua5.4/lua.h ] || missing+=(liblua5.4-dev)
if [ ${#missing[@]} -gt 0 ]; then
    [ "$(id -u)" -eq 0 ] || { echo "engines.sh: run as root once, or install these first: ${missing[*]}" >&2; exit 1; }
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi
what=${1:-tests}
[ "$what" = install ] && exit

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. Scripts/debug-build.sh
import_headers RunwayJavaScript RunwayLua
flags+=(-D Scripts -D Lua -D JavaScript)
sanitizer=()
[ "$what" = address-sanitizer ] && sanitizer=(-sanitize=address)
flags+=("${sanitizer[@]}")
clang -std=c17 -Wall -Wextra -Werror -D RUNWAY_LUA "${sanitizer[@]/-sanitize/-fsanitize}" -O2 -I Sources/RunwayLua/include \
    -c Sources/RunwayLua/lua.c -o "$work/lua.o"
collect_objects '^RunwayScripts'
# Arguments: the program, its objects.
link() {
    swiftc -use-ld=lld "${sanitizer[@]}" "${@:2}" "$work/RunwayScripts.o" "$work/lua.o" "$work/dependencies.a" \
        -lz -lsqlite3 -ljavascriptcoregtk-4.1 -llua5.4 -lstdc++ -o "$1"
}

if [ "$what" = benchmark ]; then
    compile RunwayScripts Sources/RunwayScripts -O -enable-testing
    compile ScriptsBenchmark Benchmarks/Scripts -O
    link "$work/benchmark" "$work/ScriptsBenchmark.o"
    "$work/benchmark"
    JSC_useJIT=0 "$work/benchmark" --no-jit
    exit
fi
compile RunwayScripts Sources/RunwayScripts -enable-testing
compile RunwayScriptsTests Tests/RunwayScriptsTests -enable-testing
compile_test_main EnginesTestMain
link "$work/tests" "$work/EnginesTestMain.o" "$work/RunwayScriptsTests.o" -lTesting
# The command of the debug build, whose main function SwiftPM has renamed, with the engines.
link "$work/runway" -Xlinker --defsym=main=RunwayCommand_main
export RUNWAY_WITH_ENGINES=$work/runway
# What is never freed is not reported, as in address-sanitizer.sh. Variables stay on the stack, where JavaScriptCore's garbage collector looks for
# values. The engine's memory comes from the sanitizer, which ends the process of a test whose script takes it all: the limit of addresses that
# the test sets does not reach memory whose addresses the sanitizer has reserved. JavaScriptCore's own handlers of signals are allowed by default.
export ASAN_OPTIONS="detect_leaks=0:detect_stack_use_after_return=0:hard_rss_limit_mb=2048:log_path=$work/report"
"$work/tests" --testing-library swift-testing >"$work/log" 2>&1 || { cat "$work/log" "$work"/report.* >&2; exit 1; }
# Processes that a test expects to fail may have failed for this reason.
! grep -l 'ERROR: AddressSanitizer' "$work"/report.* >"$work/reports" 2>/dev/null || { xargs cat <"$work/reports" >&2; exit 1; }
tail -n 1 "$work/log"
