import Crypto
import HTTPTypes
import Hummingbird
import NIOCore
import RunwaySignatures
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayServer

/// Bodies that come a minute or more after their head, by the server's clock.
@Suite(.timeLimit(.minutes(5)))
struct SlowBodyTests {
    private static let later = ServerTime.start + .seconds(60)
    private static let refused: @Sendable (SignatureRefusal) -> RefusedRequest = { refusal in
        RefusedRequest(refusal: refusal, accepted: nil, isExplained: false)
    }

    private let time = ServerTime()
    private let claims = Claims()
    private let keys: InMemoryKeyDirectory

    init() throws {
        keys = InMemoryKeyDirectory([
            KeyRecord(id: "k-1", key: try .hmac(SignedServer.secret), owner: "anna"),
            KeyRecord(id: "partner-3", key: try .salted(SignedServer.secret), owner: "partner"),
        ])
    }

    private func verifier(_ change: (inout SignatureRules) -> Void = { _ in }) -> RequestVerifier {
        var rules = SignatureRules(tag: "app", origin: PublicOrigin("api.example.com"))
        rules.digests = DigestRules()
        change(&rules)
        return RequestVerifier(rules, keys: keys, nonces: claims, now: { [time] in time.now })
    }

    /// A request whose head comes at the start, and its body this long after it.
    ///
    /// - Parameter change: What happens between them.
    private func request(
        _ head: HTTPRequest, _ body: some Sequence<UInt8>, after delay: Duration = .seconds(60),
        _ change: @escaping @Sendable () -> Void = {}
    ) -> Request {
        time.set(ServerTime.start)
        let part = ByteBuffer(bytes: body)
        let parts = AsyncStream<ByteBuffer> { continuation in
            continuation.yield(part)
            continuation.finish()
        }
        let slow = parts.map { [time] part -> ByteBuffer in
            time.set(ServerTime.start + delay)
            change()
            return part
        }
        return Request(head: head, body: RequestBody(asyncSequence: slow))
    }

    private func refusal(
        of request: Request, _ change: (inout SignatureRules) -> Void = { _ in }
    ) async throws -> SignatureRefusal {
        let verifier = verifier(change)
        return try await #require(throws: SignatureRefusal.self) {
            _ = try await verifier.verify(request, onStreamFailure: Self.refused)
        }
    }

    @Test func slowBodysRefusalHasTheTimeAfterIt() async throws {
        let signed = try await SignedCall.post("amount=12").signed()
        let changed = try await refusal(of: request(signed, "amount=99".utf8))
        #expect(changed.reason == .body && changed.time == Self.later)
        let long = try await refusal(of: request(signed, "amount=12".utf8)) { $0.maximumBodyByteCount = 8 }
        #expect(long.reason == .bodyTooLarge && long.time == Self.later)
        let bare = try await SignedCall(method: .post).signed()
        let uncovered = try await refusal(of: request(bare, "amount=12".utf8))
        #expect(uncovered.reason == .coverage && uncovered.time == Self.later)
    }

    @Test func streamedBodysRefusalHasTheTimeAfterIt() async throws {
        let signed = try await SignedCall.post("amount=12").signed()
        let verifier = verifier { $0.streamsBody = { _ in true } }
        let verified = try await verifier.verify(request(signed, "amount=99".utf8), onStreamFailure: Self.refused)
        let error = try await #require(throws: RefusedRequest.self) {
            _ = try await verified.request.body.collect(upTo: 9)
        }
        #expect(error.refusal.reason == .body && error.refusal.time == Self.later)
    }

    /// Changes of the directory while the body comes.
    private func changes() throws -> [(@Sendable () -> Void, SignatureRefusal.Reason)] {
        let keys = keys
        let key = try VerificationKey.hmac(SignedServer.secret)
        let replaced = KeyRecord(id: "k-1", key: try .hmac(SymmetricKey(size: .bits256)), owner: "anna")
        let given = KeyRecord(id: "k-1", key: key, owner: "ben")
        let ended = KeyRecord(id: "k-1", key: key, owner: "anna", notAfter: Self.later - .seconds(1))
        var stricter = KeyRecord(id: "k-1", key: key, owner: "anna")
        stricter.requiredComponents = [.field(.userAgent)]
        return [
            ({ keys.revoke("k-1") }, .inactiveKey), ({ keys.insert(replaced) }, .inactiveKey),
            ({ keys.insert(given) }, .inactiveKey), ({ keys.insert(ended) }, .inactiveKey),
            ({ [stricter] in keys.insert(stricter) }, .coverage),
        ]
    }

    private func restore() throws {
        keys.insert(KeyRecord(id: "k-1", key: try .hmac(SignedServer.secret), owner: "anna"))
    }

    @Test func keyIsReadAgainAfterTheBody() async throws {
        for (change, reason) in try changes() {
            try restore()
            let signed = try await SignedCall.post("amount=12").signed()
            let refusal = try await refusal(of: request(signed, "amount=12".utf8, change))
            #expect(refusal.reason == reason && refusal.time == Self.later)
            // Nobody with a key that is not accepted has the server sign.
            #expect(refusal.isAuthentic == (reason == .coverage))
        }
    }

    @Test func requestWithoutBodyIsVerifiedAtItsEnd() async throws {
        // It is verified then, and only then.
        for (change, reason) in try changes().enumerated().filter({ [0, 3, 4].contains($0.offset) }).map(\.element) {
            try restore()
            #expect(try await refusal(of: request(SignedCall().signed(), [], change)).reason == reason)
        }
        #expect(claims.times.isEmpty)
    }

    @Test func keyIsReadAgainAfterAStreamedBody() async throws {
        let streamed: (inout SignatureRules) -> Void = { $0.streamsBody = { _ in true } }
        let uncovered: (inout SignatureRules) -> Void = { $0.policy.coversBody = false }
        for rules in [streamed, uncovered] {
            for (change, reason) in try changes() {
                try restore()
                var call = SignedCall.post("amount=12")
                if !verifier(rules).rules.policy.coversBody { call.covered = [.method, .authority, .path, .query] }
                let slow = try await request(call.signed(), "amount=12".utf8, change)
                let verified = try await verifier(rules).verify(slow, onStreamFailure: Self.refused)
                let error = await #expect(throws: RefusedRequest.self) {
                    _ = try await verified.request.body.collect(upTo: 9)
                }
                #expect(error?.refusal.reason == reason)
            }
        }
    }

    @Test func signatureTooOldAfterItsBodyIsRefused() async throws {
        var call = SignedCall.post("amount=12")
        let old = try await refusal(of: request(call.signed(), "amount=12".utf8, after: .seconds(121)))
        #expect(old.reason == .tooOld && old.isAuthentic)
        call.expires = ServerTime.start + .seconds(20)
        let expired = try await refusal(of: request(call.signed(), "amount=12".utf8))
        #expect(expired.reason == .tooOld && expired.isAuthentic)
    }

    @Test func streamedBodyMayOutlastItsSignature() async throws {
        let signed = try await SignedCall.post("amount=12").signed()
        let verified = try await verifier { $0.streamsBody = { _ in true } }.verify(
            request(signed, "amount=12".utf8, after: .seconds(3_600)), onStreamFailure: Self.refused)
        #expect(try await verified.request.body.collect(upTo: 9) == ByteBuffer(string: "amount=12"))
    }

    /// The head over a real socket, and the body when the key has been revoked.
    @Test func bodyOfARevokedKeyReachesNoHandler() async throws {
        let claims = Claims()
        try await withSignedServer(nonces: claims) { server in
            let call = SignedCall.post("amount=12")
            let text = TransitRequest(try await call.signed(), body: call.body).text()
            let reply = try await CutBodyTests.exchange([String(text.dropLast(4)), String(text.suffix(4))], server) {
                try await waitUntil { !claims.times.isEmpty }
                server.keys.revoke("k-1")
            }
            #expect(reply.contains("401 Unauthorized"), "\(reply)")
            #expect(server.handled.value == 0)
            #expect(try server.outcomes("inactiveKey") == 1)
        }
    }

    @Test func digestsNonceIsClaimedAfterItsBody() async throws {
        let digested = DigestTests.Digested()
        let request = request(try await digested.request(), digested.body)
        _ = try await verifier().verify(request, onStreamFailure: Self.refused)
        #expect(claims.times == [Self.later])
    }

    /// The store of nonces forgets a digest when it is too old.
    @Test func digestTooOldAfterItsBodyIsRefused() async throws {
        let digested = DigestTests.Digested()
        let request = request(try await digested.request(), digested.body, after: .seconds(121))
        let refusal = try await refusal(of: request)
        #expect(refusal.reason == .tooOld && refusal.time == ServerTime.start + .seconds(121))
        #expect(claims.times.isEmpty)
    }
}

/// Has the times at which nonces were claimed.
private final class Claims: NonceStore {
    private let claimed = Mutex<[UnixTime]>([])
    var times: [UnixTime] { claimed.withLock { $0 } }

    func claim(_ nonce: Nonce, at now: UnixTime) async throws -> NonceClaim {
        claimed.withLock { $0.append(now) }
        return .claimed
    }
}
