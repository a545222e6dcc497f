import Crypto
import Foundation
import HTTPTypes
import Runway
import RunwaySignatures
import RunwayTUF
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayBundles

struct MetadataUpdaterTests {
    private let scene = try? UpdateScene()

    @Test func aFirstUpdateRequestsEachRoleOnce() async throws {
        let scene = try #require(scene)
        try scene.publish(version: 1)
        let verified = try await scene.updater().refresh(at: UpdateScene.now)
        #expect(verified.targets.version == 1)
        #expect(scene.takeRequests() == ["2.root.json", "timestamp.json", "1.snapshot.json", "1.targets.json"])
        #expect(scene.storedVersions == ["timestamp": 1, "snapshot": 1, "targets": 1])
    }

    @Test func anUpdateWithoutNewsMakesTwoRequests() async throws {
        let scene = try #require(scene)
        try scene.publish(version: 1)
        _ = try await scene.updater().refresh(at: UpdateScene.now)
        _ = scene.takeRequests()
        _ = try await scene.updater().refresh(at: UpdateScene.now)
        #expect(scene.takeRequests() == ["2.root.json", "timestamp.json"])
    }

    /// Each prefix of an update is stored, and none of it is returned.
    @Test(arguments: ["timestamp.json", "2.snapshot.json", "2.targets.json"])
    func interruptedUpdatesAreContinued(_ missing: String) async throws {
        let scene = try #require(scene)
        try scene.publish(version: 1)
        _ = try await scene.updater().refresh(at: UpdateScene.now)
        try scene.publish(version: 2)
        let bytes = scene.replace(missing, with: nil)
        await #expect(throws: MetadataError.self) { try await scene.updater().refresh(at: UpdateScene.now) }
        #expect(scene.storedVersions["targets"] == 1)
        _ = scene.replace(missing, with: bytes)
        let verified = try await scene.updater().refresh(at: UpdateScene.now)
        #expect(verified.targets.version == 2)
        #expect(scene.storedVersions == ["timestamp": 2, "snapshot": 2, "targets": 2])
    }

    @Test func rotatedKeysReplaceHighVersions() async throws {
        let scene = try #require(scene)
        try scene.publish(version: 1_000)
        _ = try await scene.updater().refresh(at: UpdateScene.now)
        try scene.rotateOnlineKeys()
        try scene.publish(version: 2)
        let verified = try await scene.updater().refresh(at: UpdateScene.now)
        #expect(verified.targets.version == 2)
        #expect(scene.storedVersions == ["root": 2, "timestamp": 2, "snapshot": 2, "targets": 2])
    }

    @Test func rotationRemovesWhatOldKeysSigned() async throws {
        let scene = try #require(scene)
        try scene.publish(version: 1)
        _ = try await scene.updater().refresh(at: UpdateScene.now)
        try scene.rotateOnlineKeys()
        _ = scene.replace("timestamp.json", with: nil)
        await #expect(throws: MetadataError.self) { try await scene.updater().refresh(at: UpdateScene.now) }
        #expect(scene.storedVersions == ["root": 2, "targets": 1])
    }

    @Test func rotationIsBoundedAndContinued() async throws {
        let scene = try #require(scene)
        for _ in 0..<5 { try scene.rotateOnlineKeys() }
        try scene.publish(version: 1)
        var limits = UpdateLimits()
        limits.rootRotations = 3
        await #expect(throws: MetadataError.self) { try await scene.updater(limits).refresh(at: UpdateScene.now) }
        #expect(scene.storedVersions == ["root": 4])
        _ = try await scene.updater(limits).refresh(at: UpdateScene.now)
        #expect(scene.storedVersions["root"] == 6)
    }

    @Test func aRootOfANewerAppWins() async throws {
        let scene = try #require(scene)
        try scene.publish(version: 1)
        _ = try await scene.updater().refresh(at: UpdateScene.now)
        try scene.rotateOnlineKeys()
        try scene.publish(version: 2)
        // The repository no longer has the intermediate root; the app was updated with it.
        let root = scene.replace("2.root.json", with: nil)
        let updater = MetadataUpdater(scene.folder, embeddedRoot: root, fetch: scene.fetch)
        #expect(try await updater.refresh(at: UpdateScene.now).targets.version == 2)
    }

    @Test func damagedFilesAreReplaced() async throws {
        let scene = try #require(scene)
        try scene.publish(version: 1)
        _ = try await scene.updater().refresh(at: UpdateScene.now)
        for role in ["root", "timestamp", "snapshot", "targets"] {
            try scene.folder.store(Array("{}".utf8), as: role)
        }
        #expect(try await scene.updater().refresh(at: UpdateScene.now).targets.version == 1)
        #expect(scene.storedVersions["targets"] == 1)
    }

    @Test func aClockSetBackRevivesNothing() async throws {
        let scene = try #require(scene)
        try scene.publish(version: 1, expires: UpdateScene.now + .seconds(100 * 86_400))
        _ = try await scene.updater().refresh(at: UpdateScene.now + .seconds(60 * 86_400))
        try scene.publish(version: 2, expires: UpdateScene.now + .seconds(30 * 86_400))
        await #expect(throws: MetadataError.self) { try await scene.updater().refresh(at: UpdateScene.now) }
        // A clock that is far ahead refuses everything, and leaves no trace.
        await #expect(throws: MetadataError.self) {
            try await scene.updater().refresh(at: UpdateScene.now + .seconds(100 * 365 * 86_400))
        }
        try scene.publish(version: 3, expires: UpdateScene.now + .seconds(200 * 86_400))
        #expect(try await scene.updater().refresh(at: UpdateScene.now).targets.version == 3)
    }

    @Test func whatWasVerifiedStillExpires() async throws {
        let scene = try #require(scene)
        try scene.publish(version: 1, expires: UpdateScene.now + .seconds(86_400))
        let updater = scene.updater()
        for _ in 0..<2 { #expect(try await updater.refresh(at: UpdateScene.now).targets.version == 1) }
        await #expect(throws: MetadataError.self) { try await updater.refresh(at: UpdateScene.now + .seconds(86_400)) }
        // A new root verifies everything again, also if an update by it was interrupted.
        try scene.rotateOnlineKeys()
        await #expect(throws: MetadataError.self) { try await updater.refresh(at: UpdateScene.now) }
        try scene.publish(version: 2)
        #expect(try await updater.refresh(at: UpdateScene.now).targets.version == 2)
    }

    @Test func concurrentCallersShareAnUpdate() async throws {
        let scene = try #require(scene)
        try scene.publish(version: 1)
        let updater = scene.updater()
        async let one = updater.refresh(at: UpdateScene.now)
        async let two = updater.refresh(at: UpdateScene.now)
        _ = try await (one, two)
        // The second joins the first, or finds nothing new after it.
        #expect([4, 6].contains(scene.takeRequests().count))
    }

    @Test func targetsHaveTheirHashInTheirName() async throws {
        let scene = try #require(scene)
        try scene.publish(version: 1)
        let updater = scene.updater()
        let verified = try await updater.refresh(at: UpdateScene.now)
        let target = try await updater.target("pages/shop.html", in: verified)
        #expect(verified.fileName(of: target) == "pages/\(Hexadecimal.sha256(Array("v1".utf8))).shop.html")
        await #expect(throws: MetadataError.self) { try await updater.target("pages/other.html", in: verified) }
    }
}

struct RepositoryNetworkTests {
    @Test func filesAreRequestedWithoutCacheAndCredentials() async throws {
        let transport = StubTransport { _ in .bytes([1, 2, 3]) }
        let network = NetworkLayer(transport: transport)
        let repository = try #require(RepositoryNetwork("https://cdn.example.com/shop", on: network))
        for _ in 0..<2 { #expect(try await repository.metadata("1.a/b é.json", upTo: 3) == [1, 2, 3]) }
        #expect(try await repository.target("pages/a b.html", upTo: 3) == [1, 2, 3])
        #expect(
            transport.requests.map(\.url) == [
                "https://cdn.example.com/shop/1.a%2Fb%20%C3%A9.json",
                "https://cdn.example.com/shop/1.a%2Fb%20%C3%A9.json", "https://cdn.example.com/shop/pages/a%20b.html",
            ])
        for name in [HTTPField.Name.authorization, .cookie] {
            #expect(transport.requests.allSatisfy { $0.head.headerFields[name] == nil })
        }
    }

    @Test func absentFilesAreNil() async throws {
        for (status, isAbsent) in [(HTTPResponse.Status.notFound, true), (.forbidden, true), (.badRequest, false)] {
            let network = NetworkLayer(transport: StubTransport { _ in .bytes([], status: status) })
            let repository = try #require(RepositoryNetwork("https://cdn.example.com/", on: network))
            if isAbsent {
                #expect(try await repository.metadata("2.root.json", upTo: 3) == nil)
            } else {
                await #expect(throws: (any Error).self) { try await repository.metadata("2.root.json", upTo: 3) }
            }
        }
    }

    /// Endless data: reading stops at the limit.
    @Test func endlessResponsesAreCut() async throws {
        let count = Mutex(0)
        let body = BodyStream {
            {
                count.withLock { $0 += 1 }; return [UInt8](repeating: 0x20, count: 100)
            }
        }
        let network = NetworkLayer(
            transport: StubTransport { _ in Response(head: HTTPResponse(status: .ok), body: .stream(body)) })
        let repository = try #require(RepositoryNetwork("https://cdn.example.com/", on: network))
        await #expect(throws: MetadataError.self) { try await repository.metadata("timestamp.json", upTo: 1_000) }
        #expect(count.withLock { $0 } == 11)
    }

    /// Slow retrieval: a response that never ends is ended by the limit on its time.
    @Test func slowResponsesAreEnded() async throws {
        let clock = ManualClock()
        let body = BodyStream {
            {
                try await clock.sleep(until: clock.now.advanced(by: .seconds(9))); return [0x20]
            }
        }
        let network = NetworkLayer(
            transport: StubTransport { _ in Response(head: HTTPResponse(status: .ok), body: .stream(body)) },
            clock: LayerClock(clock))
        let repository = try #require(RepositoryNetwork("https://cdn.example.com/", on: network, limit: .seconds(60)))
        let request = Task { try await repository.metadata("timestamp.json", upTo: 1_000) }
        let advancing = Task {
            while !Task.isCancelled {
                await Task.yield()
                clock.advance(by: .seconds(1))
            }
        }
        await #expect(throws: NetworkError.self) { try await request.value }
        advancing.cancel()
        #expect(clock.now.duration(to: ManualClock.Instant()) <= .seconds(-60))
    }

    @Test func invalidAddressesAreRefused() {
        let network = NetworkLayer(transport: StubTransport { _ in .bytes([]) })
        for url in ["", "ftp://a/", "https://", "https://a/?b", "https://a/#b", "a/b"] {
            #expect(RepositoryNetwork(url, on: network) == nil)
        }
    }
}
