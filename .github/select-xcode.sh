#!/usr/bin/env bash
# Prints DEVELOPER_DIR of the newest Xcode in a folder whose Swift is 6.3 or later; fails with a sentence if there is none.
#
#   .github/select-xcode.sh >>"$GITHUB_ENV"
#   .github/select-xcode.sh FOLDER    another folder than /Applications
set -euo pipefail
folder=${1:-/Applications}
found=()
while read -r xcode; do
    swift=$xcode/Contents/Developer/Toolchains/XcodeDefault.xctoolchain/usr/bin/swift
    [ -x "$swift" ] || continue
    version=$("$swift" --version 2>/dev/null | sed -nE 's/.*Swift version ([0-9]+\.[0-9]+).*/\1/p' | head -n 1)
    found+=("${xcode##*/} has Swift ${version:-of no known version}")
    if [ -n "$version" ] && [ "$(printf '%s\n' 6.3 "$version" | sort -V | head -n 1)" = 6.3 ]; then
        echo "DEVELOPER_DIR=$xcode/Contents/Developer"
        exit 0
    fi
done < <(find "$folder" -maxdepth 1 -name 'Xcode*.app' | sort -rV)
echo "::error::Runway needs Swift 6.3, and no Xcode in $folder has it: ${found[*]:-there is none}" >&2
exit 1
