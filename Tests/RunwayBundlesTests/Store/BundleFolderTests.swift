import Dispatch
import Foundation
import RunwayTUF
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

    @Test func bundlesOfUnreadableManifestsStay() async throws {
        try await BundleScene.run { scene in
            try scene.publish(2, ["index.html": "<p>2"])
            try await scene.runNewest()
            let manifests = scene.device.appending(path: "manifests")
            let name = try #require(scene.names(in: "manifests").first)
            let (manifest, aside) = (manifests.appending(path: name), scene.device.appending(path: "aside"))
            try FileManager.default.moveItem(at: manifest, to: aside)
            // A folder is there, and can't be read as a file.
            try FileManager.default.createDirectory(at: manifest, withIntermediateDirectories: false)
            _ = scene.takeKinds()
            #expect(try await scene.store().running.id.isEmbedded)
            #expect(scene.takeKinds() == [.uncounted])

            try FileManager.default.removeItem(at: manifest)
            try FileManager.default.moveItem(at: aside, to: manifest)
            #expect(try await scene.store().running.id.version == 2)
            // A manifest that is absent is damaged.
            try FileManager.default.removeItem(at: manifest)
            _ = scene.takeKinds()
            #expect(try await scene.store().running.id.isEmbedded)
            #expect(scene.takeKinds() == [.damaged, .launched])
        }
    }

    @Test func replacedDownloadsAreNeverAccepted() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "BundleFolder.\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: url) }
        let folder = try BundleFolder(url)
        let (good, bad) = (Data(count: 1 << 15), Data(repeating: 1, count: 1 << 15))
        let digest = Hexadecimal.sha256(Array(good))
        let file = BundleManifest.File(path: "a", length: 1 << 15, sha256: digest)
        let (incoming, other) = (folder.incoming(digest), url.appending(path: "other"))
        for _ in 0..<10 {
            try good.write(to: incoming)
            // What the system downloads comes by a rename, at any time.
            DispatchQueue.concurrentPerform(iterations: 2) { thread in
                if thread == 0 { return _ = try? folder.accept(file) }
                for _ in 0..<10 {
                    try? bad.write(to: other)
                    rename(other.path, incoming.path)
                }
            }
            if let accepted = try? Data(contentsOf: url.appending(path: "files/\(digest)")) {
                #expect(accepted == good)
                try FileManager.default.removeItem(at: url.appending(path: "files/\(digest)"))
            }
        }
        // Bytes that are here already do not pass through the place of downloads.
        try bad.write(to: incoming)
        try folder.store(Array(good), as: digest)
        #expect(try folder.bytes(of: file) == good && Data(contentsOf: incoming) == bad)
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
