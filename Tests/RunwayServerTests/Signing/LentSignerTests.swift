import Crypto
import HTTPTypes
import Hummingbird
import NIOCore
import RunwayJSON
import RunwaySignatures
import Testing

@testable import RunwayServer

/// The signer of an envelope, and its items.
@Suite(.timeLimit(.minutes(5)))
struct LentSignerTests {
    private func envelope(_ items: String...) -> SignedCall {
        var call = SignedCall.post(#"{"requests":[\#(items.joined(separator: ","))]}"#, to: "/v1/_batch")
        call.fields[.contentType] = "application/json"
        return call
    }

    private func responses(_ reply: SignedCall.Reply) throws -> [JSONValue] {
        #expect(reply.status == 200)
        return Array(try JSONDocument(reply.body).root["responses"].elements)
    }

    @Test func itemsHaveTheSignerOfTheirEnvelope() async throws {
        try await withSignedServer { server in
            let call = envelope("/v1/echo/a%2Fb?x=1".item("1"), "/v1/echo/c".item("2"))
            let responses = try responses(try await call.send(to: server))
            #expect(responses.map { $0["body"].string } == ["k-1 anna /v1/echo/a%2Fb?x=1", "k-1 anna /v1/echo/c"])
            #expect(try server.outcomes("accepted") == 1)
        }
    }

    @Test func itemOfUnsignedEnvelopeNeverRuns() async throws {
        try await withSignedServer { server in
            let reply = try await envelope("/v1/echo/a".item("1")).send(to: server) {
                $0.headerFields[.signature] = nil
                $0.headerFields[.signatureInput] = nil
            }
            #expect(try reply.reason == "unsigned")
            #expect(server.handled.value == 0)
        }
    }

    @Test func changedItemInvalidatesEnvelope() async throws {
        try await withSignedServer { server in
            let other = envelope("/v1/echo/b".item("1"))
            let reply = try await envelope("/v1/echo/a".item("1")).send(to: server, body: other.body)
            #expect(try reply.reason == "body")
        }
    }

    @Test func requiredFieldIsCheckedPerItem() async throws {
        let field = try #require(HTTPField.Name("X-Client"))
        try await withSignedServer(rules: { $0.policy.requiredComponents.append(.field(field)) }) { server in
            var call = envelope(
                "/v1/echo/a".item("1", headers: #"[["X-Client","ios"]]"#), "/v1/echo/b".item("2"))
            call.fields[field] = "ios"
            call.covered = [.method, .authority, .path, .query, .contentDigest, .field(field)]
            let responses = try responses(try await call.send(to: server))
            #expect(responses.map { $0["status"].int } == [200, 400])
            #expect(responses[1]["body"].string?.contains("urn:runway:signature:components") == true)
        }
    }

    @Test func envelopeWithoutDigestLendsNothing() async throws {
        try await withSignedServer(rules: { $0.policy.coversBody = false }) { server in
            var call = envelope("/v1/echo/a".item("1"))
            call.covered = [.method, .authority, .path, .query]
            let responses = try responses(try await call.send(to: server))
            #expect(responses.map { $0["status"].int } == [401])
            #expect(server.handled.value == 0)
        }
    }

    // MARK: - Other rules

    private static func keys() throws -> [KeyRecord] {
        [
            KeyRecord(id: "k-1", key: try .hmac(SignedServer.secret), owner: "anna"),
            KeyRecord(id: "partner-3", key: try .salted(SignedServer.secret), owner: "partner"),
        ]
    }

    private func verifier(
        _ keys: [KeyRecord]? = nil, at time: UnixTime = ServerTime.start, _ change: (inout SignatureRules) -> Void
    ) throws -> RequestVerifier {
        var rules = SignatureRules(tag: "app", origin: PublicOrigin("api.example.com"))
        change(&rules)
        return RequestVerifier(
            rules, keys: InMemoryKeyDirectory(try keys ?? Self.keys()),
            nonces: NonceMemory(startedAt: UnixTime(seconds: 0)), now: { time })
    }

    /// Has a request verified by some rules, and returns why others refuse the same request. `nil` if they accept it.
    private func refusal(
        of head: HTTPRequest, body: [UInt8] = [], verifiedBy first: (inout SignatureRules) -> Void = { _ in },
        with keys: [KeyRecord]? = nil, at time: UnixTime = ServerTime.start,
        checkedBy second: (inout SignatureRules) -> Void
    ) async throws -> SignatureRefusal.Reason? {
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(bytes: body)))
        let verified = try await verifier(nil, first).verify(request) { refusal in
            RefusedRequest(refusal: refusal, accepted: nil, isExplained: false)
        }
        let other = try verifier(keys, at: time, second)
        do {
            let received = try await other.verify(verified.request, lent: verified.signer)
            #expect(try await Array(received.body.collect(upTo: 1 << 20).readableBytesView) == body)
            return nil
        } catch let refusal as SignatureRefusal {
            return refusal.reason
        } catch let refused as RefusedRequest {
            return refused.refusal.reason
        }
    }

    @Test func otherRulesMustAcceptTheDigestToo() async throws {
        let digested = DigestTests.Digested()
        func refusal(_ rules: (inout SignatureRules) -> Void) async throws -> SignatureRefusal.Reason? {
            try await self.refusal(
                of: digested.request(), body: digested.body, verifiedBy: { $0.digests = DigestRules() },
                checkedBy: rules)
        }
        #expect(try await refusal { $0.digests = DigestRules() } == nil)
        #expect(try await refusal { _ in } == .algorithm)
        let sealed: (inout SignatureRules) -> Void = { rules in
            rules.digests = DigestRules()
            rules.digests?.requiresSealedKey = true
        }
        #expect(try await refusal(sealed) == .algorithm)
        let md5: (inout SignatureRules) -> Void = { rules in
            rules.digests = DigestRules()
            rules.digests?.algorithms = [.saltedMD5]
        }
        #expect(try await refusal(md5) == .algorithm)
        let field: (inout SignatureRules) -> Void = { rules in
            rules.digests = DigestRules()
            rules.policy.requiredComponents.append(.field(.userAgent))
        }
        #expect(try await refusal(field) == .coverage)
    }

    @Test func otherRulesMustAcceptTheSignatureToo() async throws {
        let head = try await SignedCall().signed()
        #expect(try await refusal(of: head) { _ in } == nil)
        #expect(try await refusal(of: head) { $0.policy.algorithms = [.ed25519] } == .algorithm)
        let loose: (inout SignatureRules) -> Void = { $0.policy.coversBody = false }
        #expect(try await refusal(of: head, verifiedBy: loose) { $0.policy.coversBody = false } == nil)
        // Nothing was verified that says which body it is.
        #expect(try await refusal(of: head, body: [1], verifiedBy: loose) { _ in } == .coverage)
    }

    @Test func otherDirectoryMustHaveTheSameKey() async throws {
        let head = try await SignedCall().signed()
        func refusal(_ record: KeyRecord?) async throws -> SignatureRefusal.Reason? {
            try await self.refusal(of: head, with: record.map { [$0] } ?? []) { _ in }
        }
        let key = try VerificationKey.hmac(SignedServer.secret)
        let other = try VerificationKey.hmac(SymmetricKey(size: .bits256))
        #expect(try await refusal(KeyRecord(id: "k-1", key: key, owner: "anna")) == nil)
        #expect(try await refusal(nil) == .inactiveKey)
        #expect(try await refusal(KeyRecord(id: "k-1", key: other, owner: "anna")) == .inactiveKey)
        #expect(try await refusal(KeyRecord(id: "k-1", key: key, owner: "ben")) == .inactiveKey)
    }

    @Test func signatureForAnotherOriginIsNotLent() async throws {
        let head = try await SignedCall().signed()
        for origin in [PublicOrigin("admin.example.com"), PublicOrigin("api.example.com", scheme: "http")] {
            #expect(try await refusal(of: head) { $0.origin = origin } == .authority)
        }
        #expect(try await refusal(of: head) { $0.origin = PublicOrigin("a.example.com", "API.example.com:443") } == nil)
    }

    @Test func nonceThatNobodyClaimedIsNotLent() async throws {
        var call = SignedCall()
        let unchecked: (inout SignatureRules) -> Void = { $0.policy.nonces = .unchecked }
        for nonce in ["n-1", nil] {
            call.nonce = nonce
            #expect(try await refusal(of: call.signed(), verifiedBy: unchecked) { _ in } == .parameters)
            #expect(try await refusal(of: call.signed(), verifiedBy: unchecked, checkedBy: unchecked) == nil)
        }
        call.nonce = "n-1"
        #expect(try await refusal(of: call.signed()) { $0.policy.nonces = .equal("n-1") } == nil)
        #expect(try await refusal(of: call.signed()) { $0.policy.nonces = .equal("n-2") } == .parameters)
    }

    @Test func signatureOfTheWrongAgeIsNotLent() async throws {
        var call = SignedCall()
        let later = ServerTime.start + .seconds(60)
        let short: (inout SignatureRules) -> Void = { $0.policy.maximumAge = .seconds(10) }
        #expect(try await refusal(of: call.signed(), at: later) { _ in } == nil)
        #expect(try await refusal(of: call.signed(), at: later, checkedBy: short) == .tooOld)
        call.created = ServerTime.start + .seconds(20)
        #expect(try await refusal(of: call.signed()) { $0.policy.clockTolerance = .seconds(5) } == .inFuture)
        call.expires = ServerTime.start + .seconds(25)
        #expect(try await refusal(of: call.signed(), at: later) { _ in } == .tooOld)
        let digested = DigestTests.Digested()
        let digests: (inout SignatureRules) -> Void = { $0.digests = DigestRules() }
        let old = try await refusal(of: digested.request(), body: digested.body, verifiedBy: digests, at: later) {
            digests(&$0)
            short(&$0)
        }
        #expect(old == .tooOld)
    }

    @Test func streamedBodyIsVerifiedForStricterRules() async throws {
        let call = SignedCall.post("amount=12")
        let streamed: (inout SignatureRules) -> Void = { $0.streamsBody = { _ in true } }
        func refusal(_ text: String, _ rules: (inout SignatureRules) -> Void) async throws -> SignatureRefusal.Reason? {
            try await self.refusal(of: call.signed(), body: Array(text.utf8), verifiedBy: streamed, checkedBy: rules)
        }
        #expect(try await refusal("amount=12") { _ in } == nil)
        #expect(try await refusal("amount=99") { _ in } == .body)
        #expect(try await refusal("amount=12") { $0.maximumBodyByteCount = 8 } == .bodyTooLarge)
    }
}
