#!/usr/bin/env bash
# Plays the DocC tutorial "Getting started" step by step, from an empty package: the commands, the lines of the manifest and the code are
# read from the page itself, and the package is built after every step that adds code and tested at the end. It depends on this copy by its
# path. By hand: it builds Runway once, in a folder of its own.
#
#   Scripts/tutorial.sh                             in a folder that is removed at the end
#   TUTORIAL_FOLDER=/tmp/books Scripts/tutorial.sh  in a folder that stays, for a faster next play
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
page="$root/Sources/Runway/Runway.docc/GettingStarted.md"
start=$SECONDS

folder=${TUTORIAL_FOLDER:-}
if [ -z "$folder" ]; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
fi
mkdir -p "$folder/Books"
cd "$folder/Books"
rm -rf Package.swift Sources Tests

say() { echo "tutorial: $*"; }

# Prints the code of a section: the lines of its only block in a language; none is text.
code() {
    awk -v section="## $1" -v fence="\`\`\`$2" '
        /^## / { inside = $0 == section }
        inside && !open && $0 == fence { open = 1; blocks += 1; next }
        open && /^```$/ { open = 0; next }
        open { print }
        END { if (blocks != 1) { print "tutorial: " blocks + 0 " blocks in " section > "/dev/stderr"; exit 1 } }' "$page"
}

build() {
    SWIFT_DETERMINISTIC_HASHING=1 swift build --build-tests >build.log 2>&1 ||
        { cat build.log >&2; say "the package does not build: $1" >&2; exit 1; }
    say "built: $1"
}

say "1. Make a package"
grep -qF '`swift package init --name Books`' "$page" || { say "the page makes its package otherwise" >&2; exit 1; }
swift package init --name Books >/dev/null
code "Make a package" "" >lines
python3 - "$root" <<'PYTHON'
import re
import sys

root = sys.argv[1]
lines = open("lines", encoding="utf-8").read().split("…\n")
platforms, dependency, targets = lines[0].strip(), lines[1].strip(), lines[2].rstrip()
# The address of the repository is the reader's; here it is this copy, whose package is known by the name of its folder.
name = root.rstrip("/").rsplit("/", 1)[1]
dependency = re.sub(r'url: "…", from: "[0-9.]+"', f'path: "{root}"', dependency)
targets = targets.replace('package: "runway"', f'package: "{name}"')
tools = open("Package.swift", encoding="utf-8").readline()
open("Package.swift", "w", encoding="utf-8").write(f"""{tools}
import PackageDescription

let package = Package(
    name: "Books",
    {platforms}
    products: [.library(name: "Books", targets: ["Books"])],
    dependencies: [
        {dependency}
    ],
    targets: [
        {targets}
    ])
""")
PYTHON

source=Sources/Books/Books.swift
test=Tests/BooksTests/BooksTests.swift
rm -rf Sources/Books/* Tests/BooksTests/*
echo "import Runway" >"$source"
echo "import Testing" >"$test"
build "an empty package that depends on Runway"

step=2
for section in "Describe the API" "Convert the response for the view" "Load and show"; do
    say "$step. $section"
    { echo; code "$section" swift; } >>"$source"
    build "$section"
    step=$((step + 1))
done

say "$step. Test it"
{
    printf 'import Runway\nimport RunwayTesting\nimport Testing\n\n@testable import Books\n\n'
    code "Test it" swift
} >"$test"
build "Test it"
swift test --skip-build >test.log 2>&1 || { cat test.log >&2; say "its test fails" >&2; exit 1; }
grep -q 'Test titlesOfAnAuthorAreShown() passed' test.log || { cat test.log >&2; say "its test was not run" >&2; exit 1; }
say "played to its end in $((SECONDS - start)) s"
