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
flags=(-O -wmo -swift-version 6 -package-name runway -enable-upcoming-feature ExistentialAny
    -enable-upcoming-feature MemberImportVisibility -enable-upcoming-feature InternalImportsByDefault
    -enable-upcoming-feature NonisolatedNonsendingByDefault)

# Compiles the reader of JSON, which the core's wire coding needs.
vectors=Sources/RunwayJSONSIMD
for file in "$vectors"/*.c; do clang -O2 -I "$vectors/include" -c "$file" -o "$work/$(basename "$file" .c).o"; done
echo "module RunwayJSONSIMD { header \"$PWD/$vectors/include/RunwayJSONSIMD.h\" export * }" >"$work/module.modulemap"

# Compiles a module: compile MODULE FOLDER
compile() {
    mapfile -t files < <(find "$2" -name '*.swift')
    swiftc "${flags[@]}" -parse-as-library -module-name "$1" -I "$work" -emit-module \
        -emit-module-path "$work/$1.swiftmodule" -c "${files[@]}" -o "$work/$1.o"
}

link() {
    swiftc "${flags[@]}" -module-name Run -I "$work" Scripts/sync-simulator/main.swift "$work"/*.o -o "$work/run"
}

# Plants a mistake in a copy of the core, by an expression of sed: plant NAME FILE EXPRESSION
plant() {
    rm -rf "$work/core"
    cp -R Sources/RunwaySyncCore "$work/core"
    sed -i -E "$3" "$work/core/$2"
    if cmp -s "Sources/RunwaySyncCore/$2" "$work/core/$2"; then
        echo "$1: the expression changes nothing" >&2
        return 1
    fi
    # The simulator calls the core by its symbols, which a mistake in a body does not change.
    compile RunwaySyncCore "$work/core"
    link
    "$work/run" find "$1" || missing+=("$1")
}

for module in RunwayJSON RunwaySyncCore RunwaySyncSimulator; do compile "$module" "Sources/$module"; done
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
    source Scripts/sync-simulator/planted.sh
    [ ${#missing[@]} = 0 ] || { echo "not found: ${missing[*]}" >&2; exit 1; }
    ;;
*) "$work/run" "$@" ;;
esac
