import Foundation
import Testing

@testable import RunwayBundles

/// Stores whose files can't be read or written, or change at the same time.
struct BundleFolderTests {
    /// Puts a folder in the place of the state, which then can be neither read nor replaced.
    private func block(_ scene: BundleScene) throws -> URL {
        let state = scene.device.appending(path: "state.json")
        try FileManager.default.removeItem(at: state)
        try FileManager.default.createDirectory(at: state, withIntermediateDirectories: false)
        return state
    }

    @Test func statesThatCannotBeReadStayWhole() async throws {
        try await BundleScene.run { scene in
            try await scene.runNewest()
            let state = try block(scene)
            let error = await #expect(throws: BundleError.self) { try await scene.store() }
            #expect(error?.kind == .storage)
            #expect(!scene.names(in: "").contains("state.json.unreadable"))
            try FileManager.default.removeItem(at: state)
            #expect(try await scene.store().running.id.isEmbedded)
        }
    }

    @Test func stoppingWinsOverAFullDisk() async throws {
        try await BundleScene.run { scene in
            try scene.publish(2, ["index.html": "<p>2"])
            try await scene.runNewest()
            var store: BundleStore? = try await scene.store()
            #expect(store?.running.id.version == 2)
            try scene.change(isStopped: true)
            let state = try block(scene)
            #expect(await store?.check().kind == .failed)
            #expect(store?.status.isStopped == true && store?.launch().id.isEmbedded == true)
            // The next check stores it.
            try FileManager.default.removeItem(at: state)
            #expect(await store?.check().kind == .stopped)
            store = nil
            #expect(try await scene.store().running.id.isEmbedded)
        }
    }
}
