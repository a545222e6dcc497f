#!/usr/bin/env bash
# Runs the simulator of the synchronisation, compiled with optimisation; by hand.
#
#   Scripts/sync-simulator.sh [LAST [FIRST]]        runs the seeds from 1 to 500: five devices, of which each changes about 200 rows. Fails
#                                                   if a promise is broken or a place is not reached
#   Scripts/sync-simulator.sh short [LAST [FIRST]]  runs 20,000 seeds of five devices and 200 events
#   Scripts/sync-simulator.sh sqlite [COUNT]        runs 100 seeds of that size with SQLite files on both sides, in a debug build
#   Scripts/sync-simulator.sh show SEED             shrinks a run that fails, and prints its messages; show-short for a short one
#   Scripts/sync-simulator.sh traces                runs seeds under two seeds of Swift's hashing, and compares their traces
#   Scripts/sync-simulator.sh planted               plants mistakes around the core, and then in copies of its sources; each has to be
#                                                   found within 1,000 seeds, in a run of at most 12 events
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [ "${1:-}" = sqlite ]; then
    SEEDS=${2:-100} exec swift test --filter 'RunwaySyncTests\.SimulationTests'
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags=(-O -swift-version 6 -package-name runway -enable-upcoming-feature ExistentialAny
    -enable-upcoming-feature MemberImportVisibility -enable-upcoming-feature InternalImportsByDefault
    -enable-upcoming-feature NonisolatedNonsendingByDefault)

# Compiles the reader of JSON, which the core's wire coding needs.
vectors=Sources/RunwayJSONSIMD
for file in "$vectors"/*.c; do clang -O2 -I "$vectors/include" -c "$file" -o "$work/$(basename "$file" .c).o"; done
echo "module RunwayJSONSIMD { header \"$PWD/$vectors/include/RunwayJSONSIMD.h\" export * }" >"$work/module.modulemap"

# Compiles a module: compile MODULE FOLDER
compile() {
    mapfile -t files < <(find "$2" -name '*.swift')
    swiftc "${flags[@]}" -wmo -parse-as-library -module-name "$1" -I "$work" -emit-module \
        -emit-module-path "$work/$1.swiftmodule" -c "${files[@]}" -o "$work/$1.o"
}

link() {
    swiftc "$work"/*.o "$@" -o "$work/run"
}

# Compiles each file of the core alone, so that a mistake costs the compilation of its file only. All that is outside the file calls it
# by its symbols, which a mistake in a body does not change.
compile_files() {
    cp -R Sources/RunwaySyncCore "$work/core"
    mkdir "$work/files"
    mapfile -t files < <(find "$work/core" -name '*.swift')
    (cd "$work/files" && swiftc "${flags[@]}" -parse-as-library -module-name RunwaySyncCore -I "$work" -c "${files[@]}")
    rm "$work/RunwaySyncCore.o"
}

# Plants a mistake in a copy of the core, by an expression of sed: plant NAME FILE EXPRESSION
plant() {
    local original=Sources/RunwaySyncCore/$2 copy=$work/core/$2 object others
    object=$work/files/$(basename "$2" .swift).o
    sed -i -E "$3" "$copy"
    if cmp -s "$original" "$copy"; then
        echo "$1: the expression changes nothing" >&2
        return 1
    fi
    mapfile -t others < <(find "$work/core" -name '*.swift' ! -path "$copy")
    cp "$object" "$work/right"
    swiftc -frontend "${flags[@]}" -parse-as-library -module-name RunwaySyncCore -I "$work" \
        -c -primary-file "$copy" "${others[@]}" -o "$object"
    link "$work"/files/*.o
    "$work/run" find "$1" || missing+=("$1")
    cp "$original" "$copy"
    mv "$work/right" "$object"
}

for module in RunwayJSON RunwaySyncCore RunwaySyncSimulator; do compile "$module" "Sources/$module"; done
swiftc "${flags[@]}" -module-name Run -I "$work" -c Scripts/sync-simulator/main.swift -o "$work/main.o"
link
case "${1:-}" in
traces)
    SWIFT_DETERMINISTIC_HASHING=1 "$work/run" traces >"$work/first"
    "$work/run" traces >"$work/second"
    cmp "$work/first" "$work/second" && echo "the traces are equal"
    ;;
planted)
    missing=()
    "$work/run" planted || missing+=("around the core")
    compile_files
    source Scripts/sync-simulator/planted.sh
    [ ${#missing[@]} = 0 ] || { echo "not found: ${missing[*]}" >&2; exit 1; }
    ;;
*) "$work/run" "$@" ;;
esac
