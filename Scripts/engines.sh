#!/usr/bin/env bash
# Runs the tests of RunwayScripts with JavaScriptCore and Lua. Installs Debian's libraries where they are missing. Needs a debug build: what
# the package traits Scripts and Lua add is compiled against its modules, which takes seconds and not a second build.
#
#   Scripts/engines.sh                   the tests
#   Scripts/engines.sh install           only installs
#   Scripts/engines.sh address-sanitizer the tests, with the seams of the engines under AddressSanitizer; by hand
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

built=$(realpath .build/debug)
package=$(basename "$PWD" | tr '[:upper:]' '[:lower:]' | tr -c 'a-z0-9_\n' _)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
maps=()
for target in RunwayJavaScript RunwayLua; do
    printf 'module %s { header "%s" export * }\n' "$target" "$PWD/Sources/$target/include/$target.h" >"$work/$target.modulemap"
    maps+=(-Xcc "-fmodule-map-file=$work/$target.modulemap")
done
while read -r map; do
    maps+=(-Xcc "-fmodule-map-file=$map")
done < <(find -L "$built" -maxdepth 2 -name module.modulemap ! -path '*/RunwayJavaScript.build/*' ! -path '*/RunwayLua.build/*'
    find .build/checkouts -path '*/Sources/*/include/module.modulemap')
features=(-D Scripts -D Lua -D JavaScript -enable-upcoming-feature ExistentialAny -enable-upcoming-feature MemberImportVisibility
    -enable-upcoming-feature InternalImportsByDefault -enable-upcoming-feature NonisolatedNonsendingByDefault)
sanitizer=()
[ "$what" = address-sanitizer ] && sanitizer=(-sanitize=address)
# Arguments: the module, the folder of its sources, flags.
compile() {
    local files
    mapfile -t files < <(find "$2" -name '*.swift' | LC_ALL=C sort)
    swiftc -swift-version 6 -wmo -parse-as-library -warnings-as-errors -package-name "$package" -module-name "$1" "${@:3}" \
        "${features[@]}" "${sanitizer[@]}" "${maps[@]}" -I "$work" -I "$built/Modules" -emit-module-path "$work/$1.swiftmodule" \
        -c -o "$work/$1.o" "${files[@]}" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
}
clang -std=c17 -Wall -Wextra -Werror -D RUNWAY_LUA "${sanitizer[@]/-sanitize/-fsanitize}" -O2 -I Sources/RunwayLua/include \
    -c Sources/RunwayLua/lua.c -o "$work/lua.o"
# What the debug build has compiled of the targets below, of which the linker takes what is needed.
python3 - "$built" >"$work/objects" <<'EOF'
import json, pathlib, re, sys
for folder in sorted(pathlib.Path(sys.argv[1]).glob("*.build")):
    if re.search(r"^RunwayScripts|Tests\.build$|-tool\.build$|^runwayPackage|^RunwayCommand|^RunwayCrashTest", folder.name):
        continue
    sources = folder / "output-file-map.json"
    if sources.exists():
        objects = [pathlib.Path(entry["object"]) for entry in json.loads(sources.read_text()).values() if "object" in entry]
        # Modules that nothing here uses are not compiled.
        paths = [path for path in objects if path.exists()]
    else:
        paths = folder.rglob("*.o")
    for path in paths:
        print(f'"{path}"')
EOF
ar --thin -qcs "$work/dependencies.a" "@$work/objects"
# Arguments: the program, its objects.
link() {
    swiftc -use-ld=lld "${sanitizer[@]}" "${@:2}" "$work/RunwayScripts.o" "$work/lua.o" "$work/dependencies.a" \
        -lz -ljavascriptcoregtk-4.1 -llua5.4 -lstdc++ -o "$1"
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
mkdir "$work/main"
echo 'import Testing
@main struct Main { static func main() async { await Testing.__swiftPMEntryPoint() as Never } }' >"$work/main/Main.swift"
compile EnginesTestMain "$work/main"
link "$work/tests" "$work/EnginesTestMain.o" "$work/RunwayScriptsTests.o" -lTesting
ASAN_OPTIONS=detect_leaks=0 "$work/tests" --testing-library swift-testing >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
tail -n 1 "$work/log"
