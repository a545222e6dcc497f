#!/usr/bin/env bash
# Builds the DocC documentation of every library, warnings as errors. Arguments: the folder for the result; a temporary one
# that is removed by default.
set -euo pipefail
cd "$(dirname "$0")/.."

# Documentation is made of the package with all its traits.
Scripts/codings-libraries.sh

output=${1:-}
if [ -z "$output" ]; then
    output=$(mktemp -d)
    trap 'rm -rf "$output"' EXIT
fi

for target in RunwayJSON Runway RunwayTransport RunwayServer RunwayTesting RunwayDemo; do
    swift package --allow-writing-to-directory "$output" generate-documentation \
        --target "$target" --output-path "$output/$target" --warnings-as-errors
done
