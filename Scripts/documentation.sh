#!/usr/bin/env bash
# Builds the DocC documentation of every library with the toolchain's docc, warnings as errors. Needs a debug build.
# Arguments: the folder for the result; a temporary one that is removed by default.
set -euo pipefail
cd "$(dirname "$0")/.."

built=$(realpath .build/debug)
graphs=$(mktemp -d)
trap 'rm -rf "$graphs"' EXIT
triple=$(swift -print-target-info | python3 -c 'import json, sys; print(json.load(sys.stdin)["target"]["triple"])')
output=${1:-$graphs/documentation}

maps=()
while read -r map; do
    maps+=(-Xcc "-fmodule-map-file=$map")
done < <(find -L "$built" -maxdepth 2 -name module.modulemap; find .build/checkouts -path '*/Sources/*/include/module.modulemap'
    find .build/checkouts/GRDB.swift -path '*GRDBSQLite*' -name module.modulemap)

for catalog in Sources/*/*.docc; do
    target=$(basename "$catalog" .docc)
    mkdir -p "$graphs/$target" "$output"
    # `swift package dump-symbol-graph` turns every package trait on, whose libraries need not be here.
    swift symbolgraph-extract -module-name "$target" -target "$triple" -I "$built/Modules" "${maps[@]}" \
        -minimum-access-level public -emit-extension-block-symbols -output-dir "$graphs/$target"
    docc convert "$catalog" --additional-symbol-graph-dir "$graphs/$target" \
        --fallback-display-name "$target" --fallback-bundle-identifier "$target" --output-path "$output/$target" \
        --warnings-as-errors
done
