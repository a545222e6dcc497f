import Foundation
import RunwayBundles
import RunwayScripts

/// The examples of the documentation.
enum ScriptExamples {
    static let rows = PatchPoint("orders.rows", version: 3) { (listing: Listing) in
        listing.items.map { Row(title: $0.name) }
    }

    static func load(from store: BundleStore, support: URL) async throws {
        let bundle = try ScriptBundle(store.running, name: "shop", runtime: "3")
        let scripts = try ScriptRuntime(marker: support.appending(path: "scripts.marker"), build: "412") { print($0) }
        scripts.open(rows)
        try await scripts.load(bundle)
    }
}
