#!/usr/bin/env bash
# Resolves this package from one outside, with each of the traits in the table of docs/installing.md, and fails if the number of packages
# is not the one that the page says.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

project=$PWD
outside=$(mktemp -d)
trap 'rm -rf "$outside"' EXIT
mkdir "$outside/Sources"
echo "" >"$outside/Sources/App.swift"

# Arguments: the product, the traits, the number of packages.
resolve() {
    cat >"$outside/Package.swift" <<MANIFEST
// swift-tools-version:6.2
import PackageDescription

let package = Package(
    name: "outside", platforms: [.macOS(.v15)],
    dependencies: [.package(name: "runway", path: "$project", traits: [$2])],
    targets: [.target(name: "App", dependencies: [.product(name: "$1", package: "runway")], path: "Sources")])
MANIFEST
    rm -rf "$outside/.build" "$outside/Package.resolved"
    # The versions that the build has, so that nothing else is fetched.
    if [ -e Package.resolved ]; then cp Package.resolved "$outside"; fi
    swift package --package-path "$outside" resolve >"$outside/log" 2>&1 || { cat "$outside/log" >&2; exit 1; }
    python3 - "$outside/Package.resolved" "$@" <<'COUNT'
import json, sys
path, product, traits, expected = sys.argv[1:]
names = sorted(pin["identity"] for pin in json.load(open(path))["pins"])
print(f"packages: {product} with traits [{traits}] resolves {len(names)}: {' '.join(names)}")
if len(names) != int(expected): sys.exit(f"packages: docs/installing.md says {expected}")
COUNT
}

resolve Runway '' 5
resolve RunwayTransport '"Transport"' 11
resolve RunwayTransport '"Pins"' 14
resolve RunwaySignatures '"Signing"' 8
resolve RunwaySigning '"Signing"' 8
resolve RunwayScripts '"Scripts"' 8
resolve RunwayStorage '"Storage"' 6
resolve RunwayTables '"Storage"' 6
resolve RunwaySync '"Storage"' 6
resolve RunwayMediator '' 5
resolve RunwayScreens '' 5
resolve RunwayViews '' 5
resolve RunwayStreams '' 5
resolve RunwayChat '' 5
resolve RunwayServer '"Server"' 24
resolve RunwayServerStorage '"Server", "Storage"' 25
resolve Runway .defaults 26

# Without Pins, RunwayTransport has other code; it is checked against the modules of the debug build, which takes seconds.
built=$(realpath .build/debug)
package=$(basename "$project" | tr '[:upper:]' '[:lower:]' | tr -c 'a-z0-9_\n' _)
maps=()
while read -r map; do
    maps+=(-Xcc "-fmodule-map-file=$map")
done < <(find -L "$built" -maxdepth 2 -name module.modulemap; find .build/checkouts -path '*/Sources/*/include/module.modulemap'
    find .build/checkouts/GRDB.swift -path '*GRDBSQLite*' -name module.modulemap)
mapfile -t sources < <(find Sources/RunwayTransport -name '*.swift')
swiftc -typecheck -swift-version 6 -wmo -module-name RunwayTransport -package-name "$package" -D Transport -warnings-as-errors \
    -enable-upcoming-feature ExistentialAny -enable-upcoming-feature MemberImportVisibility \
    -enable-upcoming-feature InternalImportsByDefault -enable-upcoming-feature NonisolatedNonsendingByDefault \
    -I "$built/Modules" "${maps[@]}" "${sources[@]}"
echo "packages: RunwayTransport compiles without Pins"

# Without its trait the demo compiles to nothing, and so needs no module.
mapfile -t sources < <(find Sources/RunwayDemo -name '*.swift')
swiftc -typecheck -swift-version 6 -warnings-as-errors -module-name RunwayDemo "${sources[@]}"
echo "packages: RunwayDemo compiles to nothing without Command"

# A setting that an endpoint or a service declares with another type than the protocol's is refused by the compiler.
# Arguments: a setting of an endpoint, and one of a service.
declares() {
    cat >"$outside/Settings.swift" <<SOURCE
import HTTPTypes
import Runway

enum Shop: APIService {
    static let environments: [ServiceEnvironment: String] = [:]
    static let $2
}

struct Order: Endpoint {
    static let service = Shop.self
    static let $1
    var path: EndpointPath { "orders" }
}
SOURCE
    swiftc -typecheck -swift-version 6 -I "$built/Modules" "${maps[@]}" "$outside/Settings.swift" >"$outside/log" 2>&1
}

right=('method = HTTPRequest.Method.post' 'allowsPlainHTTP = true')
declares "${right[@]}" || { cat "$outside/log" >&2; exit 1; }
for wrong in 'method = "POST"' 'deadline = Duration.seconds(5)' 'cache = CachePolicy.http' 'retry = 3' 'authorization = true'; do
    if declares "$wrong" "${right[1]}" || ! grep -q eachSettingHasItsType "$outside/log"; then
        echo "packages: an endpoint with \"static let $wrong\" compiles, and the default holds" >&2
        exit 1
    fi
done
for wrong in 'deadline = 5.0' 'merging = "all"' 'commonHeaders = ["X-App": 1]' 'cookies = true'; do
    if declares "${right[0]}" "$wrong" || ! grep -q eachSettingHasItsType "$outside/log"; then
        echo "packages: a service with \"static let $wrong\" compiles, and the default holds" >&2
        exit 1
    fi
done
echo "packages: settings of another type do not compile"

# What RunwayTables promises of types: a column of another table, and a secret in a condition or an order, are refused by the compiler.
tables() {
    cat >"$outside/Tables.swift" <<SOURCE
import Foundation
import RunwayTables

enum Tasks: TableDefinition {
    static let name = "task"
    static let id = Column<UUID>("id"), title = Column<String>("title"), note = Column<Secret<String>>("note")
    static let columns = TableColumns<Self>(id, title, note)
}

enum Lists: TableDefinition {
    static let name = "list"
    static let id = Column<UUID>("id"), title = Column<String>("title")
    static let columns = TableColumns<Self>(id, title)
}

func read(_ file: TableWriter, _ values: Values<Tasks>, _ folder: URL) throws {
    var values = values
    $1
}
SOURCE
    swiftc -typecheck -swift-version 6 -I "$built/Modules" "${maps[@]}" "$outside/Tables.swift" >"$outside/log" 2>&1
}

for right in 'values[Tasks.title] = "a"' 'try file.save(values)' 'values[Tasks.note] = Secret("a")' \
    '_ = try file.fetch(Tasks.self, where: Tasks.title == "a", orderedBy: [.ascending(Tasks.title)])' \
    '_ = Stored<String>("t", in: .preferences())' '_ = Stored<String>("t", in: .archive(in: folder))'; do
    tables "$right" || { cat "$outside/log" >&2; exit 1; }
done
for wrong in 'values[Lists.title] = "a"' 'values[Tasks.title] = 1' 'values[Tasks.note] = "a"' \
    '_ = try file.fetch(Tasks.self, where: Lists.title == "a")' '_ = try file.fetch(Tasks.self, where: Tasks.note == Secret("a"))' \
    '_ = try file.fetch(Tasks.self, orderedBy: [.ascending(Tasks.note)])' '_ = Tasks.title == 1' 'values.save()' \
    '_ = Stored<Secret<String>>("t", in: .preferences())' '_ = Stored<Secret<String>>("t", in: .propertyList(in: folder))' \
    '_ = Stored<Secret<String>>("t", in: .archive(in: folder))'; do
    if tables "$wrong"; then
        echo "packages: \"$wrong\" compiles with RunwayTables" >&2
        exit 1
    fi
done
echo "packages: columns of other tables, comparisons of secrets and secrets in open stores do not compile"

# Two modules, each of which imports the contract of the other and nothing else of it, compile alone, in either order.
mkdir "$outside/contracts" "$outside/modules"
# Arguments: the name of a contract or module, the folder for it, flags; the source is read from the standard input.
alone() {
    cat >"$outside/$1.swift"
    swiftc -swift-version 6 -I "$built/Modules" "${maps[@]}" -I "$outside/contracts" "${@:3}" -module-name "$1" -parse-as-library \
        -emit-module -emit-module-path "$outside/$2/$1.swiftmodule" "$outside/$1.swift" >"$outside/log" 2>&1
}
contract() {
    alone "$1Contract" contracts <<SOURCE
public import RunwayMediator
public enum $1Page: Page {
    public static let module = "$2"
    case list, item(id: Int), pick(Reply<Int>)
}
public protocol $1: Sendable { func count() -> Int }
SOURCE
}
# Arguments: the module, the other one, the cases that it has screens for, the type of a page's parameter.
implementation() {
    alone "$1Module" modules <<SOURCE
public import $1Contract
import $2Contract
public import RunwayMediator
struct Live$1: $1 { func count() -> Int { 7 } }
public struct $1Module: Module {
    public init() {}
    public func screen(for page: $1Page, in mediator: Mediator) -> Screen {
        switch page { case $3: Screen({ mediator.open($2Page.item(id: $4)) }) }
    }
    public var services: [Service] { [Service((any $1).self) { Live$1() }] }
    public var uses: [Any.Type] { [$2Page.self, (any $2).self] }
}
SOURCE
}
contract Orders orders && contract Account account &&
    implementation Orders Account '.list, .item, .pick' 7 && implementation Account Orders '.list, .item, .pick' 7 ||
    { cat "$outside/log" >&2; exit 1; }
if implementation Orders Account '.list, .item' 7; then
    echo "packages: a module compiles without a screen for a page" >&2
    exit 1
fi
if implementation Orders Account '.list, .item, .pick' '"7"'; then
    echo "packages: a page compiles with a parameter of another type" >&2
    exit 1
fi
echo "packages: modules compile without each other; a page without a screen, or with a wrong parameter, does not"
