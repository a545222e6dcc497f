import Foundation
import RunwayBundles
import RunwayScripts
import Testing

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

    static func rehearse(_ folder: URL, calls file: URL, marker: URL) async throws {
        let scripts = try ScriptRuntime(marker: marker, build: "test")
        scripts.open(rows)
        try await scripts.load(ScriptBundle(EmbeddedBundle(folder, version: 8), name: "shop", runtime: "3"))
        let records = RecordedCalls(Array(try Data(contentsOf: file)))
        let rehearsal = try await scripts.rehearse(records)
        #expect(rehearsal.isEqual, "\(rehearsal)")
    }
}
