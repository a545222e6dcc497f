#!/usr/bin/env bash
# Runs the simulator of the synchronisation, compiled with optimisation; by hand.
#
#   Scripts/sync-simulator.sh [COUNT]     runs the seeds from 1 (500), and fails if a promise is broken or a place is not reached
#   Scripts/sync-simulator.sh show SEED   shrinks a run that fails, and prints its messages
#   Scripts/sync-simulator.sh traces      runs seeds under two seeds of Swift's hashing, and compares their traces
#   Scripts/sync-simulator.sh planted     plants mistakes around the core, and then in copies of its sources; each has to be found
#                                         within 1,000 seeds, in a run of at most 12 events
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags=(-O -wmo -swift-version 6 -package-name runway -enable-upcoming-feature ExistentialAny
    -enable-upcoming-feature MemberImportVisibility -enable-upcoming-feature InternalImportsByDefault
    -enable-upcoming-feature NonisolatedNonsendingByDefault)

# Compiles the reader of JSON, which the core's wire coding needs.
vectors=Sources/RunwayJSONSIMD
for file in "$vectors"/*.c; do clang -O2 -I "$vectors/include" -c "$file" -o "$work/$(basename "$file" .c).o"; done
echo "module RunwayJSONSIMD { header \"$PWD/$vectors/include/RunwayJSONSIMD.h\" export * }" >"$work/module.modulemap"
mapfile -t files < <(find Sources/RunwayJSON -name '*.swift')
swiftc "${flags[@]}" -parse-as-library -module-name RunwayJSON -I "$work" -emit-module \
    -emit-module-path "$work/RunwayJSON.swiftmodule" -c "${files[@]}" -o "$work/RunwayJSON.o"

# Compiles a core with the simulator: build FOLDER-OF-THE-CORE
build() {
    local module core=$1
    for module in RunwaySyncCore RunwaySyncSimulator; do
        local folder="Sources/$module"
        [ "$module" = RunwaySyncCore ] && folder=$core
        mapfile -t files < <(find "$folder" -name '*.swift')
        swiftc "${flags[@]}" -parse-as-library -module-name "$module" -I "$work" -emit-module \
            -emit-module-path "$work/$module.swiftmodule" -c "${files[@]}" -o "$work/$module.o"
    done
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
    build "$work/core"
    "$work/run" find "$1" || missing+=("$1")
}

build Sources/RunwaySyncCore
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
