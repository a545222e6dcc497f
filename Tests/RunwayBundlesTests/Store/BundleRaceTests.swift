import Dispatch
import Foundation
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayBundles

/// Threads and tasks that use one store at the same time.
struct BundleRaceTests {
    @Test func concurrentFirstAccessesCountOneLaunch() async throws {
        try await BundleScene.run { scene in
            let store = try await scene.store()
            DispatchQueue.concurrentPerform(iterations: 16) { _ in _ = store.running }
            #expect(scene.takeKinds() == [.launched])
        }
    }

    @Test func cancellingALaterCallerCancelsNoCheck() async throws {
        try await BundleScene.run { scene in
            try scene.publish(2, ["index.html": "<p>2"])
            let store = try await scene.store()
            let first = Task { await store.check() }
            try await waitUntil("the check has begun") { store.shared.withLock { $0.checking != nil } }
            let second = Task { await store.check() }
            second.cancel()
            #expect(await first.value.kind == .installed)
            _ = await second.value
        }
    }
}
