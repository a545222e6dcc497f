#!/usr/bin/env bash
# Measures what each row of traits costs an app: the packages that it resolves, the size of a program, and the times of clean builds. The
# program uses the products of its row, and is built in a package outside, in a folder that is removed. By hand, and beside no other build:
# all rows take two hours on two processors. docs/measurements.md has what it measured.
#
#   Scripts/trait-sizes.sh                  all rows
#   Scripts/trait-sizes.sh none transport   some of them
#   Scripts/trait-sizes.sh --parts storage  what makes a program of a row large, by module, from its release build
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
project=$PWD

# Name, traits, products, and an expression of each product that makes the linker take it.
rows=(
    'none||Runway|URLSessionTransport()'
    'transport|"Transport"|Runway RunwayTransport|try NIOTransport()'
    'pins|"Pins"|Runway RunwayTransport|try NIOTransport()'
    'signing|"Signing"|Runway RunwaySigning|DeviceKeys(in: FileTokenStore(folder: folder))'
    'storage|"Storage"|Runway RunwayStorage|DiskCache(in: folder)'
    'tables|"Storage"|Runway RunwayTables|try await RecordStore.open(at: folder, tables: [StoredValues.self])'
    'client|"Transport", "Signing", "Storage"|Runway RunwayTransport RunwaySigning RunwayStorage RunwayStreams RunwayChat|try NIOTransport(); DiskCache(in: folder); DeviceKeys(in: FileTokenStore(folder: folder))'
    'server|"Server"|RunwayServer|MemoryChatStore()'
    'stored-server|"Server", "Storage"|RunwayServer RunwayServerStorage|MemoryChatStore(); try SQLiteEventLog(file: folder)'
    'all|.defaults|Runway RunwayTransport RunwaySigning RunwayStorage RunwayTables RunwayStreams RunwayChat RunwayServer RunwayServerStorage|try NIOTransport(); DiskCache(in: folder); DeviceKeys(in: FileTokenStore(folder: folder)); MemoryChatStore(); try SQLiteEventLog(file: folder); try await RecordStore.open(at: folder, tables: [StoredValues.self])'
)

parts=false
if [ "${1:-}" = --parts ]; then
    parts=true
    shift
fi
wanted=" ${*:-none transport pins signing storage tables client server stored-server all} "

outside=$(mktemp -d)
trap 'rm -rf "$outside"' EXIT
mkdir -p "$outside/Sources/App" "$outside/Tests/AppTests"

# Arguments: the traits, the products, the expressions.
write_app() {
    local dependencies="" product
    for product in $2; do dependencies+=".product(name: \"$product\", package: \"runway\"), "; done
    cat >"$outside/Package.swift" <<MANIFEST
// swift-tools-version:6.2
import PackageDescription

let package = Package(
    name: "outside", platforms: [.macOS(.v15)],
    dependencies: [.package(name: "runway", path: "$project", traits: [$1])],
    targets: [
        .executableTarget(name: "App", dependencies: [$dependencies]),
        .testTarget(name: "AppTests", dependencies: ["App", $dependencies]),
    ])
MANIFEST
    {
        echo 'import Foundation'
        for product in $2; do echo "import $product"; done
        echo 'let folder = FileManager.default.temporaryDirectory'
        tr ';' '\n' <<<"$3" | sed 's/^ */print(/; s/$/ as Any)/'
        case " $2 " in *" Runway "*)
            cat <<'CALL'
enum GitHub: APIService {
    static let environments: [ServiceEnvironment: String] = [.release: "https://api.github.com"]
}
let network = NetworkLayer(transport: URLSessionTransport())
print(try await network.call(GitHub.get("repos/apple/swift-nio"))["stargazers_count"].int ?? 0)
CALL
        ;; esac
    } >"$outside/Sources/App/main.swift"
    printf 'import Testing\n\n@Test func nothing() {}\n' >"$outside/Tests/AppTests/AppTests.swift"
}

# Runs a build, and prints the seconds that it took.
timed() {
    local start=$SECONDS
    swift build --package-path "$outside" "$@" >"$outside/log" 2>&1 || { tail -30 "$outside/log" >&2; exit 1; }
    echo $((SECONDS - start))
}

$parts || echo '| traits | products | packages | program, stripped | release build | debug build with tests |'
$parts || echo '|---|---|---|---|---|---|'
for row in "${rows[@]}"; do
    IFS='|' read -r name traits products expressions <<<"$row"
    [[ "$wanted" == *" $name "* ]] || continue
    write_app "$traits" "$products" "$expressions"
    rm -rf "$outside/.build" "$outside/Package.resolved"
    # The versions that the build of this package has. Resolving is no part of the times.
    if [ -e Package.resolved ]; then cp Package.resolved "$outside"; fi
    swift package --package-path "$outside" resolve >"$outside/log" 2>&1 || { cat "$outside/log" >&2; exit 1; }
    packages=$(python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["pins"]))' "$outside/Package.resolved")
    release=$(timed -c release)
    if $parts; then
        echo "$name: bytes of code and data by module, from the symbols of the program"
        nm --size-sort --print-size --radix=d "$outside/.build/release/App" | python3 -c '
import collections, re, sys
sizes = collections.Counter()
for line in sys.stdin:
    fields = line.split()
    if len(fields) < 4: continue
    name = fields[3]
    # A name of Swift begins with the length of its module; what is left is of C, such as BoringSSL and SQLite.
    found = re.match(r"\$[sS](?:So|SS)?(\d+)", name)
    if found:
        start = found.end()
        module = name[start:start + int(found[1])]
    else:
        module = "CCryptoBoringSSL" if "CCryptoBoringSSL" in name else "CNIOBoringSSL" if "CNIOBoringSSL" in name else (
            "sqlite3" if name.startswith("sqlite3") else "other, C and generic code of Swift")
    sizes[module] += int(fields[1])
for module, size in sizes.most_common(20): print(f"  {size:>10,}  {module}")'
        continue
    fi
    strip "$outside/.build/release/App"
    size=$(python3 -c 'import os, sys; print(f"{os.path.getsize(sys.argv[1]) / 1e6:.1f} MB")' "$outside/.build/release/App")
    rm -rf "$outside/.build/x86_64-unknown-linux-gnu" "$outside/.build/aarch64-unknown-linux-gnu" "$outside/.build/release"
    debug=$(timed --build-tests)
    echo "| \`[$traits]\` | $products | $packages | $size | $release s | $debug s |"
done
