import HTTPTypes
import RunwaySignatures
import RunwayTestServer
import RunwayTesting
import Testing

@testable import Runway
@testable import RunwaySigning

/// Key stores that fail, or do not return.
@Suite(.timeLimit(.minutes(10)))
struct KeyStoreTests {
    private struct Locked: Error {
        let secret = "hunter2"
    }

    /// A store that never returns, whatever becomes of its task.
    private func endlessStore(_ arrival: ScriptedGate) -> ScriptedKeys {
        ScriptedKeys {
            Task { try await arrival.pass() }
            await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            return nil
        }
    }

    @Test func aFailingStoreFailsTheCall() async throws {
        try await withScriptedOrigin { origin in
            let network = try NetworkLayer(to: origin, keys: ScriptedKeys { throw Locked() })
            let error = try await network.failure(of: Read(path: "a"))
            #expect(error.kind == .storage && error.step == .signing && error.sending == .notSent)
            #expect(!error.detail.contains("hunter2"))
            #expect(origin.requestCount == 0)
        }
    }

    @Test func aStoresOwnErrorIsThrown() async throws {
        try await withScriptedOrigin { origin in
            let network = try NetworkLayer(
                to: origin,
                keys: ScriptedKeys {
                    throw NetworkError(.needsLogin, in: .signing, "Log in first.", sending: .sent)
                })
            let error = try await network.failure(of: Read(path: "a"))
            #expect(error.kind == .needsLogin && error.sending == .notSent)
        }
    }

    @Test func callIsCancelledWhileItsKeyIsSought() async throws {
        try await withScriptedOrigin { origin in
            let arrival = ScriptedGate()
            let network = try NetworkLayer(to: origin, keys: endlessStore(arrival))
            let call = Task { try await network.call(Read(path: "a")) }
            try await arrival.waitForArrivals()
            call.cancel()
            let error = try await #require(throws: NetworkError.self) { try await call.value }
            #expect(error.kind == .cancelled && origin.requestCount == 0)
            arrival.open()
        }
    }

    @Test func theDeadlineBoundsTheKeyStore() async throws {
        try await withScriptedOrigin { origin in
            let arrival = ScriptedGate()
            let clock = ManualClock()
            let network = try NetworkLayer(to: origin, keys: endlessStore(arrival), clock: LayerClock(clock))
            let call = Task { try await network.call(Read(path: "a")) }
            try await arrival.waitForArrivals()
            clock.advance(by: .seconds(601))
            let error = try await #require(throws: NetworkError.self) { try await call.value }
            #expect(error.kind == .timedOut && origin.requestCount == 0)
            arrival.open()
        }
    }

    /// A store with a key in memory, which must not be asked for another.
    private struct KeyInMemory: RequestKeyStore {
        struct Asked: Error {}
        let key: RequestKey
        func key(for owner: KeyOwner) throws -> RequestKey? { throw Asked() }
        func keyInMemory(for owner: KeyOwner) -> RequestKey? { owner.service == "shop" ? key : nil }
    }

    @Test func keyInMemorySignsWithoutAskingTheStore() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: .text("fine"))
            let peers = Peers()
            let network = try NetworkLayer(to: origin, keys: KeyInMemory(key: peers.requestKey))
            for content in [RequestBody.none, .bytes(Array("amount=12".utf8))] {
                _ = try await network.call(Change("a", content))
            }
            for request in origin.requests { try await peers.verify(request) }
            #expect(origin.requestCount == 2)
        }
    }

    /// A signer that may wait is left behind at the deadline, and so is the reading of a stream.
    @Test func otherSignersAndStreamsAreWaitedForApart() async throws {
        struct Waiting: MessageSigner {
            let algorithm = SignatureAlgorithm.ed25519
            func signature(of base: [UInt8]) async throws -> [UInt8] { [] }
        }
        #expect(!RequestKey(id: "k", signer: Waiting()).signsAtOnce)
        #expect(try RequestKey(DeviceKeyMaker.software.makeKey()).signsAtOnce)
        try await withScriptedOrigin { origin in
            let network = try NetworkLayer(to: origin, keys: KeyInMemory(key: Peers().requestKey))
            let stream = RequestBody.stream(BodyStream([1]), byteCount: 1, isReplayable: true)
            let error = try await network.failure(of: Change("a", stream))
            #expect(error.kind == .storage && origin.requestCount == 0)
        }
    }

    @Test func aReplacedKeySignsTheNextAttempt() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: [.status(.badGateway), .text("fine")])
            let (old, new) = (Peers(), Peers())
            let count = AwaitedValue(0)
            let network = try NetworkLayer(
                to: origin,
                keys: ScriptedKeys {
                    count.update { $0 += 1 }
                    return count.value == 1 ? old.requestKey : new.requestKey
                })
            _ = try await network.call(Read(path: "a"))
            try await old.verify(origin.requests[0])
            try await new.verify(origin.requests[1])
        }
    }
}
