import HTTPTypes
import Hummingbird
import NIOCore
import RunwaySignatures
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

    private func verifier(_ change: (inout SignatureRules) -> Void = { _ in }) throws -> RequestVerifier {
        var rules = SignatureRules(tag: "app", origin: PublicOrigin("api.example.com"))
        change(&rules)
        let keys = InMemoryKeyDirectory([
            KeyRecord(id: "k-1", key: try .hmac(SignedServer.secret), owner: "anna"),
            KeyRecord(id: "partner-3", key: try .salted(SignedServer.secret), owner: "partner"),
        ])
        let signatures = SignatureVerifier(policy: rules.policy, keys: keys, nonces: claims)
        let digests = DigestVerifier(
            rules: DigestRules(), policy: rules.policy, keys: keys, nonces: claims, decoys: signatures.decoys,
            judgesTimeLast: false)
        return RequestVerifier(
            rules: rules, keys: keys, signatures: signatures, digests: digests, now: { [time] in time.now })
    }

    /// A request whose head comes at the start, and its body this long after it.
    private func request(
        _ head: HTTPRequest, _ body: some Sequence<UInt8>, after delay: Duration = .seconds(60)
    ) -> Request {
        time.set(ServerTime.start)
        let part = ByteBuffer(bytes: body)
        let parts = AsyncStream<ByteBuffer> { continuation in
            continuation.yield(part)
            continuation.finish()
        }
        let slow = parts.map { [time] part -> ByteBuffer in
            time.set(ServerTime.start + delay)
            return part
        }
        return Request(head: head, body: RequestBody(asyncSequence: slow))
    }

    private func refusal(
        of request: Request, _ change: (inout SignatureRules) -> Void = { _ in }
    ) async throws -> SignatureRefusal {
        let verifier = try verifier(change)
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
        let verifier = try verifier { $0.streamsBody = { _ in true } }
        let verified = try await verifier.verify(request(signed, "amount=99".utf8), onStreamFailure: Self.refused)
        let error = try await #require(throws: RefusedRequest.self) {
            _ = try await verified.request.body.collect(upTo: 9)
        }
        #expect(error.refusal.reason == .body && error.refusal.time == Self.later)
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
