# Sourced by scripts that compile what a package trait adds against the modules of the debug build, and link it with the objects of that
# build, which takes no second build. Needs `work`, a temporary folder. Adds to `flags`, the flags of the compiler.
built=$(realpath .build/debug)
package=$(basename "$PWD" | tr '[:upper:]' '[:lower:]' | tr -c 'a-z0-9_\n' _)
flags=(-swift-version 6 -wmo -parse-as-library -warnings-as-errors -package-name "$package" -enable-upcoming-feature ExistentialAny
    -enable-upcoming-feature MemberImportVisibility -enable-upcoming-feature InternalImportsByDefault
    -enable-upcoming-feature NonisolatedNonsendingByDefault -I "$work" -I "$built/Modules")

# Lets Swift import targets in C: those of the debug build, and new ones. Arguments: the names of the new ones.
import_headers() {
    local target map others=()
    for target in "$@"; do
        printf 'module %s { header "%s" export * }\n' "$target" "$PWD/Sources/$target/include/$target.h" >"$work/$target.modulemap"
        flags+=(-Xcc "-fmodule-map-file=$work/$target.modulemap")
        others+=(! -path "*/$target.build/*")
    done
    while read -r map; do
        flags+=(-Xcc "-fmodule-map-file=$map")
    done < <(find -L "$built" -maxdepth 2 -name module.modulemap "${others[@]}"
        find .build/checkouts -path '*/Sources/*/include/module.modulemap'
        find .build/checkouts/GRDB.swift -path '*GRDBSQLite*' -name module.modulemap)
}

# Arguments: the module, the folder of its sources, more flags.
compile() {
    local files
    # In the order of SwiftPM, on which the modules of C depend that a file sees.
    mapfile -t files < <(find "$2" -name '*.swift' | LC_ALL=C sort)
    swiftc "${flags[@]}" "${@:3}" -module-name "$1" -emit-module-path "$work/$1.swiftmodule" -c -o "$work/$1.o" "${files[@]}" \
        >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
}

# Compiles the entry of a program that runs tests. Arguments: its module.
compile_test_main() {
    mkdir "$work/main"
    echo 'import Testing
@main struct Main { static func main() async { await Testing.__swiftPMEntryPoint() as Never } }' >"$work/main/Main.swift"
    compile "$1" "$work/main"
}

# Collects all that the debug build has compiled, of which the linker takes what is needed, in `dependencies.a`. Objects of sources that were
# renamed may still be there. Arguments: a regular expression for the names of the modules that are compiled anew.
collect_objects() {
    python3 - "$built" "$1" >"$work/objects" <<'PYTHON'
import json, pathlib, re, sys
for folder in sorted(pathlib.Path(sys.argv[1]).glob("*.build")):
    if re.search(sys.argv[2] + r"|^RunwayCrashTest|Tests\.build$|-tool\.build$|^runwayPackage", folder.name):
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
PYTHON
    ar --thin -qcs "$work/dependencies.a" "@$work/objects"
}
