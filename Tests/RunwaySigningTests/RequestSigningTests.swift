import Crypto
import Foundation
import HTTPTypes
import RunwaySignatures
import RunwayTestServer
import RunwayTesting
import Synchronization
import Testing

@testable import Runway
@testable import RunwaySigning

/// What arrives at a server over sockets, verified as a server does.
@Suite(.timeLimit(.minutes(10)))
struct RequestSigningTests {
    private let peers = Peers()

    @Test func pathAndBodyAreSignedAsSent() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            let keys = OneKey(peers.requestKey)
            let network = try NetworkLayer(to: origin, keys: keys)
            network.configure(Shop.self) { $0.account = "anna" }
            _ = try await network.call(Read(path: "a%2Fb", parameters: ["q": "x y/~", "p": ""]))
            _ = try await network.call(Change("a%2Fb", .bytes(Array("body".utf8))))
            #expect(origin.requests.allSatisfy { $0.path == "/a%2Fb" } && origin.requests.first?.query != nil)
            let signatures = try await [peers.verify(origin.requests[0]), peers.verify(origin.requests[1])]
            #expect(signatures.map(\.owner) == ["anna", "anna"])
            #expect(signatures.map { $0.digest == nil } == [true, false])
            let owner = KeyOwner(service: "shop", environment: .release, account: "anna")
            #expect(keys.owners == [owner, owner])
        }
    }

    @Test func everyRetryIsSignedAnew() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: [.status(.badGateway), .text("fine")])
            let network = try NetworkLayer(to: origin, keys: OneKey(peers.requestKey))
            _ = try await network.call(Read(path: "a"))
            #expect(origin.requestCount == 2)
            // The verifier accepts a nonce once.
            for request in origin.requests { try await peers.verify(request) }
        }
    }

    @Test func everyHopIsSignedAnew() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/a", respond: .redirect(to: "/b?c=1"))
            origin.on("/b", respond: .text("fine"))
            let network = try NetworkLayer(to: origin, keys: OneKey(peers.requestKey))
            _ = try await network.call(Read(path: "a"))
            #expect(origin.requests.map(\.target) == ["/a", "/b?c=1"])
            for request in origin.requests { try await peers.verify(request) }
        }
    }

    @Test func anotherOriginGetsNoSignature() async throws {
        try await withScriptedOrigin { home in
            try await withScriptedOrigin { away in
                home.on("/a", respond: .redirect(to: away.baseURL + "/b"))
                away.on("/b", respond: .text("fine"))
                let network = try NetworkLayer(to: home, keys: OneKey(peers.requestKey))
                _ = try await network.call(Read(path: "a"))
                let abroad = try #require(away.requests.first)
                #expect(abroad["signature"] == nil && abroad["signature-input"] == nil)
            }
        }
    }

    @Test func bothAttemptsOfAHedgeAreSigned() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/hedged", respond: [.never, .text("fine")])
            let network = try NetworkLayer(to: origin, keys: OneKey(peers.requestKey))
            _ = try await network.call(HedgedRead())
            #expect(origin.requestCount == 2)
            for request in origin.requests { try await peers.verify(request) }
        }
    }

    @Test func anEnvelopeIsSignedAsSent() async throws {
        let items = (1...2).map { #"{"id":"\#($0)","status":200,"headers":[],"body":"fine"}"# }
        let response = ScriptedResponse.json(#"{"responses":[\#(items.joined(separator: ","))]}"#)
        #expect(try await targetsOfMergedReads(response) == ["/held", "/_batch"])
    }

    @Test func itemsOfALostEnvelopeAreSignedAnew() async throws {
        let targets = try await targetsOfMergedReads(.closing)
        #expect(targets.prefix(2) == ["/held", "/_batch"] && targets.dropFirst(2).sorted() == ["/x", "/y"])
    }

    /// Sends two reads in an envelope that has a response, and verifies all requests that arrive, each nonce once. Returns their targets.
    private func targetsOfMergedReads(_ response: ScriptedResponse) async throws -> [String] {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on("/held", respond: .text("fine").held(by: gate))
            origin.on(.post, "/_batch", respond: response)
            origin.otherwise(respond: .text("fine"))
            // Its time stands still, so that requests wait for each other as long as they must; signatures have the real date.
            let clock = LayerClock(ManualClock(), wall: { Date() })
            let network = try NetworkLayer(to: origin, keys: OneKey(peers.requestKey), clock: clock)
            network.configure(Shop.self) { $0.merging = MergePolicy(settling: .zero) }
            async let first = network.call(Read(path: "held"))
            try await gate.waitForArrivals()
            async let second = network.call(Read(path: "x"))
            async let third = network.call(Read(path: "y"))
            try await waitUntil { network.merger.waitingCount >= 2 }
            gate.open()
            _ = try await (first, second, third)
            for request in origin.requests { try await peers.verify(request) }
            return origin.requests.map(\.target)
        }
    }

    @Test func aCachedResponseNeedsNoSignature() async throws {
        try await withScriptedOrigin { origin in
            origin.on("/stored", respond: .text("fine"))
            let keys = OneKey(peers.requestKey)
            let network = try NetworkLayer(to: origin, keys: keys)
            for _ in 0..<3 { _ = try await network.call(StoredRead()) }
            #expect(keys.owners.count == 1 && origin.requestCount == 1)
        }
    }

    @Test func aReadableStreamIsDigested() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            let network = try NetworkLayer(to: origin, keys: OneKey(peers.requestKey))
            let bytes = Array("a stream".utf8)
            let stream = RequestBody.stream(BodyStream(bytes), byteCount: bytes.count, isReplayable: true)
            _ = try await network.call(Change("a", stream))
            try await peers.verify(try #require(origin.requests.first))
            let digest = ["Content-Digest": BodyDigest(of: bytes).fieldValue]
            let once = RequestBody.stream(BodyStream(bytes), byteCount: bytes.count, isReplayable: false)
            _ = try await network.call(Change("b", once, headers: digest))
            try await peers.verify(try #require(origin.requests.last))
        }
    }

    /// A stream that returns its bytes in two parts, once.
    private func oneShot(_ bytes: [UInt8], stating byteCount: Int?) -> RequestBody {
        let readings = AwaitedValue(0)
        let stream = BodyStream {
            var parts = readings.value > 0 ? [] : [Array(bytes.dropFirst(2)), Array(bytes.prefix(2))]
            readings.update { $0 += 1 }
            return { parts.popLast() }
        }
        return .stream(stream, byteCount: byteCount, isReplayable: false)
    }

    @Test(arguments: [nil, 5]) func shortStreamWithoutDigestIsReadIntoMemory(_ byteCount: Int?) async throws {
        try await withScriptedOrigin { origin in
            let (peers, bytes) = (peers, Array("bytes".utf8))
            origin.otherwise { received in
                do {
                    try await peers.verify(received)
                    return .text("fine")
                } catch {
                    return try peers.refusal(at: Peers.now)
                }
            }
            // The first signature is refused for its time: the body is sent twice.
            let clock = LayerClock(ContinuousClock()) { Date(timeIntervalSinceNow: 3600) }
            let network = try NetworkLayer(to: origin, keys: OneKey(peers.requestKey), clock: clock)
            _ = try await network.call(Change("a", oneShot(bytes, stating: byteCount)))
            #expect(origin.requests.map(\.body) == [bytes, bytes])
        }
    }

    @Test(arguments: [nil, 5]) func longStreamWithoutDigestIsRefused(_ byteCount: Int?) async throws {
        try await withScriptedOrigin { origin in
            var policy = SigningPolicy(.signature(tag: "app"))
            policy.maximumBufferedByteCount = 4
            let network = try NetworkLayer(to: origin, policy, keys: OneKey(peers.requestKey))
            let error = try await network.failure(of: Change("a", oneShot(Array("bytes".utf8), stating: byteCount)))
            #expect(error.kind == .invalidConfiguration && error.step == .signing && error.sending == .notSent)
            #expect(origin.requestCount == 0)
        }
    }

    @Test func unsignedStreamIsNotReadIntoMemory() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            var policy = SigningPolicy(.signature(tag: "app"))
            policy.maximumBufferedByteCount = 0
            let network = try NetworkLayer(to: origin, policy, keys: OneKey(nil))
            _ = try await network.call(Change("a", oneShot(Array("bytes".utf8), stating: 5)))
            #expect(origin.requests.map(\.body) == [Array("bytes".utf8)])
        }
    }

    @Test func streamWithAnotherLengthIsRefused() async throws {
        try await withScriptedOrigin { origin in
            let network = try NetworkLayer(to: origin, keys: OneKey(peers.requestKey))
            let error = try await network.failure(of: Change("a", oneShot(Array("bytes".utf8), stating: 6)))
            #expect(error.kind == .invalidConfiguration && error.detail.contains("length"))
        }
    }

    @Test(arguments: [false, true]) func shortStreamHasASaltedDigest(isReplayable: Bool) async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            let (key, bytes) = (try SigningKey.salted(peers.secret), Array("bytes".utf8))
            var policy = SigningPolicy(.saltedDigest)
            policy.maximumBufferedByteCount = 5
            let network = try NetworkLayer(
                to: origin, policy, keys: OneKey(RequestKey(id: "partner-3", signer: key)))
            func body(_ bytes: [UInt8]) -> RequestBody {
                isReplayable
                    ? .stream(BodyStream(bytes), byteCount: nil, isReplayable: true) : oneShot(bytes, stating: nil)
            }
            _ = try await network.call(Change("a", body(bytes)))
            let received = try #require(origin.requests.first)
            let digest = try SaltedDigest(received.message.headerFields)
            let lines = try digest.canonicalRequest(of: received.message, body: received.body)
            #expect(received.body == bytes && digest.isValid(of: lines, by: key.verificationKey))
            let error = try await network.failure(of: Change("a", body(bytes + [0])))
            #expect(error.kind == .invalidConfiguration && origin.requestCount == 1)
        }
    }

    @Test func aRequestWithoutKeyIsSentUnsigned() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            let network = try NetworkLayer(to: origin, keys: OneKey(nil))
            _ = try await network.call(Read(path: "login"))
            #expect(origin.requests.first?["signature"] == nil)
        }
    }

    @Test func recordsShowNoSignature() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            let records = RecordCollector()
            let network = try NetworkLayer(to: origin, keys: OneKey(peers.requestKey), sinks: [records])
            _ = try await network.call(Read(path: "a"))
            let record = try #require(try await records.records(count: 1).first)
            let fields = try #require(record.attempts.first?.headerFields)
            #expect(fields[.signature] == Redaction.placeholder)
            #expect(
                record.decisions(of: SigningDecision.self) == [.signed(keyID: "device-7", way: "signature")])
            let sent = try #require(origin.requests.first?["signature"])
            #expect(!"\(record)".contains(sent))
        }
    }

    @Test func aKeyShowsNothingOfItself() throws {
        let secret = SymmetricKey(data: Array("runway test secret 0123456789".utf8))
        let key = try RequestKey(id: "partner-3", secret: secret)
        var dumped = ""
        dump(key, to: &dumped)
        for text in ["\(key)", String(reflecting: key), dumped] {
            #expect(text.contains("partner-3") && !text.contains("secret"))
        }
    }

    @Test func aStoredKeyShowsNothingOfItself() throws {
        let maker = DeviceKeyMaker.software
        let key = StoredDeviceKeys.Key(try maker.makeKey())
        let stored = StoredDeviceKeys(current: key, pending: StoredDeviceKeys.Key(try maker.makeKey()))
        var dumped = ""
        dump(stored, to: &dumped)
        for text in ["\(stored)", String(reflecting: stored), "\(key)", dumped] {
            #expect(text.contains(key.id) && !text.contains(key.representation))
        }
    }

    @Test func aSaltedDigestIsValid() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            let key = try SigningKey.salted(peers.secret)
            let network = try NetworkLayer(
                to: origin, SigningPolicy(.saltedDigest), keys: OneKey(RequestKey(id: "partner-3", signer: key)))
            _ = try await network.call(Change("a%2Fb", .bytes(Array("body".utf8))))
            let received = try #require(origin.requests.first)
            let digest = try SaltedDigest(received.message.headerFields)
            let lines = try digest.canonicalRequest(of: received.message, body: received.body)
            #expect(digest.isValid(of: lines, by: key.verificationKey) && digest.keyID == "partner-3")
        }
    }

    @Test func anUploadFromMemoryHasASaltedDigest() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            let key = try SigningKey.salted(peers.secret)
            let network = try NetworkLayer(
                to: origin, SigningPolicy(.saltedDigest), keys: OneKey(RequestKey(id: "partner-3", signer: key)))
            _ = try await network.upload(Change("a", .bytes(Array("body".utf8))))
            let received = try #require(origin.requests.first)
            let digest = try SaltedDigest(received.message.headerFields)
            let lines = try digest.canonicalRequest(of: received.message, body: received.body)
            #expect(digest.isValid(of: lines, by: key.verificationKey))
        }
    }

    @Test func aSealedKeyOpensAtTheServer() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            let serverKey = Curve25519.KeyAgreement.PrivateKey()
            let network = try NetworkLayer(
                to: origin, SigningPolicy(.sealedKey(to: serverKey.publicKey, id: "server-1")),
                keys: OneKey(try RequestKey(id: "partner-3", secret: peers.secret)))
            _ = try await network.call(Change("a", .bytes([1, 2, 3])))
            let received = try #require(origin.requests.first)
            let digest = try SaltedDigest(received.message.headerFields)
            let lines = try digest.canonicalRequest(of: received.message, body: received.body)
            let registered = try SigningKey.salted(peers.secret).verificationKey
            try SealedKey(received.message.headerFields).verify(
                digest, of: lines, by: registered, openedWith: serverKey)
            #expect(digest.keyID == "partner-3")
        }
    }
}
