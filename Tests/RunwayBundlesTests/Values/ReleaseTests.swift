import Runway
import Testing

@testable import RunwayBundles

/// What an installed bundle may have and change.
struct ReleaseTests {
    private let columns = RemoteValue("columns", default: 2)

    @Test func valuesAreThoseOfTheRunningBundle() async throws {
        try await BundleScene.run { scene in
            try scene.publish(2, ["values.json": #"{"format":1,"values":{"columns":{"value":3}}}"#])
            let store = try await scene.store()
            #expect(store.values(of: store.running)[columns] == 2)
            await store.check()
            #expect(store.values(of: store.running)[columns] == 2)
            #expect(store.values(of: store.launch())[columns] == 3)
            try scene.publish(3, ["values.json": #"{"format":1,"values":{"columns":{"value":"3"}}}"#])
            await store.check()
            _ = scene.takeKinds()
            #expect(store.values(of: store.launch())[columns] == 2)
            #expect(scene.takeKinds() == [.launched, .invalidValue])
        }
    }

    @Test(arguments: ["a.js", "A.MJS", "b/c.cjs", "x.wasm", "p.lua", "\u{0D4E}.js"])
    func scriptsAreInstalledWhereTheBinaryAllowsThem(_ path: String) async throws {
        try await BundleScene.run { scene in
            var options = BundleOptions()
            options.downloads = .viewsOnly
            try scene.publish(2, ["index.html": "<p>2", path: "1"])
            var store: BundleStore? = try await scene.store(options: options)
            #expect(await store?.check().kind == .refused)
            #expect(scene.takeFileRequests().isEmpty)
            try scene.publish(3, ["index.html": "<p>3", "data.json": "1"])
            #expect(await store?.check().kind == .installed)
            // A build that allows scripts installs version 4, and a later build that does not runs its embedded copy.
            store = nil
            store = try await scene.store()
            try scene.publish(4, [path: "1"])
            #expect(await store?.check().kind == .installed)
            store = nil
            _ = scene.takeKinds()
            #expect(try await scene.store(options: options).running.id.isEmbedded)
            #expect(scene.takeKinds().contains(.superseded))
        }
    }

    @Test func anAppWithoutDownloadsRequestsNothing() async throws {
        try await BundleScene.run { scene in
            var options = BundleOptions()
            options.downloads = .none
            try scene.publish(2, ["index.html": "<p>2"])
            let store = try await scene.store(options: options)
            #expect(await store.check().kind == .switchedOff)
            #expect(scene.takeRequests().isEmpty && store.launch().id.isEmbedded)
        }
    }

    @Test func onlyCountedDecisionsAreActions() {
        let bundle = BundleID(version: 7, digest: String(repeating: "ab", count: 32))
        let action = BundleRecord(.condemned, bundle).action
        #expect(action?.name == "bundle")
        #expect(action?.properties == ["event": "condemned", "bundle": .string(bundle.description)])
        #expect(BundleRecord(.installed, bundle).action != nil && BundleRecord(.ready, bundle).action != nil)
        #expect(BundleRecord(.launched, bundle).action == nil && BundleRecord(.ready).action == nil)
        #expect(BundleRecord(.ready, BundleID(embedded: 1)).action == nil)
    }
}

/// The examples of the documentation.
private func record(_ record: BundleRecord, in log: Log) -> BundleOptions {
    if let action = record.action { log.record(action.name, action.properties) }
    var options = BundleOptions()
    options.downloads = .viewsOnly
    return options
}

private struct Log { func record(_ name: String, _ properties: Parameters) {} }
