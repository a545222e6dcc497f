#!/usr/bin/env bash
# Builds the DocC documentation of every library with the toolchain's docc, warnings as errors. Arguments: the folder for the result; a
# temporary one that is removed by default.
set -euo pipefail
cd "$(dirname "$0")/.."

graphs=$(mktemp -d)
trap 'rm -rf "$graphs"' EXIT
output=${1:-$graphs/documentation}

swift package dump-symbol-graph --emit-extension-block-symbols >"$graphs/log" ||
    { cat "$graphs/log" >&2; exit 1; }
extracted=$(swift build --show-bin-path)/../symbolgraph

for target in RunwayJSON Runway RunwaySignatures RunwaySigning RunwayTransport RunwayServer RunwayTesting RunwayTestServer RunwayDemo; do
    mkdir -p "$graphs/$target" "$output"
    # A module, and what it adds to the types of others.
    find "$extracted" \( -name "$target.symbols.json" -o -name "$target@*.symbols.json" \) -exec cp {} "$graphs/$target" \;
    docc convert "Sources/$target/$target.docc" --additional-symbol-graph-dir "$graphs/$target" \
        --fallback-display-name "$target" --fallback-bundle-identifier "$target" --output-path "$output/$target" \
        --warnings-as-errors
done
