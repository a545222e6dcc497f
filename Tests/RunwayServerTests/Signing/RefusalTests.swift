import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import InMemoryLogging
import Logging
import NIOCore
import RunwayJSON
import RunwaySignatures
import Testing

@testable import RunwayServer

/// Requests that are refused, each for one reason, over real sockets.
@Suite(.timeLimit(.minutes(5)))
struct RefusalTests {
    /// A way to break a signed request.
    struct Fault: Sendable, CustomTestStringConvertible {
        let name: String
        let status: Int
        let reason: String
        var isPost = false
        var body: String?
        var change: @Sendable (inout HTTPRequest) throws -> Void = { _ in }
        var prepare: @Sendable (inout SignedCall) throws -> Void = { _ in }
        /// What stands in `Signature-Input` instead.
        var input: String?

        var testDescription: String { name }
    }

    static let faults: [Fault] = [
        Fault(name: "unsigned", status: 401, reason: "unsigned") {
            $0.headerFields[.signature] = nil
            $0.headerFields[.signatureInput] = nil
        },
        Fault(
            name: "forged", status: 401, reason: "invalid",
            prepare: { $0.key = try .hmac(SymmetricKey(size: .bits256)) }),
        Fault(name: "stale", status: 401, reason: "tooOld", prepare: { $0.created = ServerTime.start - .seconds(121) }),
        Fault(
            name: "future", status: 401, reason: "inFuture", prepare: { $0.created = ServerTime.start + .seconds(31) }),
        Fault(
            name: "expired", status: 401, reason: "tooOld",
            prepare: { call in
                call.created = ServerTime.start - .seconds(90)
                call.expires = ServerTime.start - .seconds(60)
            }),
        Fault(name: "tampered body", status: 400, reason: "body", isPost: true, body: "amount=13"),
        Fault(name: "body cut short", status: 400, reason: "body", isPost: true, body: "amount"),
        Fault(name: "body removed", status: 400, reason: "body", isPost: true, body: ""),
        Fault(name: "body added", status: 401, reason: "coverage", body: "amount=13"),
        Fault(name: "tampered query", status: 401, reason: "invalid") { $0.path = "/v1/echo/a%2Fb?x=1&x=3&y=" },
        Fault(name: "parameters reordered", status: 401, reason: "invalid") { $0.path = "/v1/echo/a%2Fb?x=2&x=1&y=" },
        Fault(name: "path decoded", status: 401, reason: "invalid") { $0.path = "/v1/echo/a/b?x=1&x=2&y=" },
        Fault(name: "method changed", status: 401, reason: "invalid") { $0.method = .delete },
        Fault(
            name: "for another host", status: 401, reason: "invalid", prepare: { $0.authority = "other.example.com" }),
        Fault(name: "too little covered", status: 401, reason: "coverage", prepare: { $0.covered = [.method, .path] }),
        Fault(name: "nothing covered", status: 401, reason: "coverage", prepare: { $0.covered = [] }),
        Fault(
            name: "digest not covered", status: 401, reason: "coverage", isPost: true,
            prepare: { $0.covered = [.method, .authority, .path, .query] }),
        Fault(name: "unknown key", status: 401, reason: "invalid", prepare: { $0.keyID = "nobody" }),
        Fault(
            name: "wrong algorithm", status: 401, reason: "invalid",
            prepare: { call in
                (call.key, call.algorithm) = (.p256(P256.Signing.PrivateKey()), .ecdsaP256SHA256)
            }),
        Fault(name: "no nonce", status: 401, reason: "parameters", prepare: { $0.nonce = nil }),
        Fault(name: "other tag", status: 401, reason: "noSignatureWithTag", prepare: { $0.tag = "other" }),
        Fault(name: "covered field removed", status: 400, reason: "components") {
            $0.headerFields[.userAgent] = nil
        } prepare: { call in
            call.fields[.userAgent] = "ios"
            call.covered = [.method, .authority, .path, .query, .field(.userAgent)]
        },
        Fault(name: "labels mismatched", status: 400, reason: "malformed") {
            $0.headerFields[.signature] = "sig2=:AAAA:"
        },
        Fault(name: "label doubled", status: 400, reason: "malformed") {
            $0.headerFields.append(HTTPField(name: .signature, value: $0.headerFields[.signature] ?? ""))
        },
        Fault(name: "only one field", status: 400, reason: "malformed") { $0.headerFields[.signature] = nil },
        Fault(name: "only the other field", status: 400, reason: "malformed") {
            $0.headerFields[.signatureInput] = nil
        },
        Fault(name: "signature empty", status: 400, reason: "malformed") { $0.headerFields[.signature] = "" },
        Fault(name: "signature too long", status: 400, reason: "malformed") {
            $0.headerFields[.signature] = "sig1=:" + String(repeating: "A", count: 12_000) + ":"
        },
        Fault(name: "unknown component", status: 401, reason: "coverage") {
            $0.headerFields[.signatureInput] = #"sig1=("@unknown");created=1790000000;keyid="k-1";nonce="n";tag="app""#
        },
        Fault(
            name: "unknown component beside the required", status: 400, reason: "components",
            input: #"sig1=("@method" "@authority" "@path" "@query" "@unknown");created=1790000000;keyid="k-1""#
                + #";nonce="n";tag="app""#),
        // Middleware has no trailer section, and a header field does not count as a trailer field.
        Fault(
            name: "trailer field covered", status: 400, reason: "components",
            prepare: { $0.fields[.userAgent] = "ios" },
            input: #"sig1=("@method" "@authority" "@path" "@query" "user-agent";tr);created=1790000000;keyid="k-1""#
                + #";nonce="n";tag="app""#),
        Fault(
            name: "unregistered algorithm", status: 401, reason: "invalid",
            input: #"sig1=("@method" "@authority" "@path" "@query");created=1790000000;keyid="k-1""#
                + #";nonce="n";alg="none";tag="app""#),
        Fault(name: "two signatures with the tag", status: 401, reason: "noSignatureWithTag") { request in
            let fields: [HTTPField.Name] = [.signatureInput, .signature]
            for name in fields {
                request.headerFields.append(
                    HTTPField(name: name, value: "sig2" + (request.headerFields[name]?.dropFirst(4) ?? "")))
            }
        },
        Fault(name: "Signature-Input empty", status: 400, reason: "malformed", input: ""),
        Fault(name: "Signature-Input doubled", status: 400, reason: "malformed") {
            $0.headerFields.append(
                HTTPField(name: .signatureInput, value: $0.headerFields[.signatureInput] ?? ""))
        },
        Fault(
            name: "component twice", status: 400, reason: "malformed",
            input: #"sig1=("@method" "@method");created=1790000000"#),
        Fault(
            name: "parameter twice", status: 400, reason: "malformed",
            input: #"sig1=("@method");created=1;created=1790000000"#),
        Fault(
            name: "expires before created", status: 401, reason: "parameters",
            prepare: { $0.expires = ServerTime.start - .seconds(1) }),
        Fault(name: "digest cut short", status: 400, reason: "components", isPost: true) {
            $0.headerFields[.contentDigest] = "sha-256=:AAAA:"
        },
        Fault(name: "digest of another algorithm", status: 400, reason: "components", isPost: true) {
            $0.headerFields[.contentDigest] = "md5=:AAAAAAAAAAAAAAAAAAAAAA==:"
        },
    ]

    @Test(arguments: faults)
    func brokenRequestIsRefusedWithItsReason(_ fault: Fault) async throws {
        try await withSignedServer { server in
            var call = fault.isPost ? SignedCall.post("amount=12") : SignedCall()
            try fault.prepare(&call)
            let reply = try await call.send(to: server, body: fault.body.map { Array($0.utf8) }) { request in
                try fault.change(&request)
                if let input = fault.input { request.headerFields[.signatureInput] = input }
            }
            #expect(reply.status == fault.status)
            let problem = try reply.problem
            #expect(problem["reason"].string == fault.reason)
            #expect(problem["type"].string == "urn:runway:signature:\(fault.reason)")
            #expect(problem["time"].int == Int(ServerTime.start.seconds))
            #expect(problem["detail"].kind == .missing)
            #expect(reply.fields[.date] != nil)
            let wanted = try reply.fields.signatureRequests()
            #expect(wanted.first?.tag == "app")
            #expect(wanted.first?.components.contains(.path) == true)
            #expect(reply.status != 401 || reply.fields[.wwwAuthenticate] != nil)
            #expect(server.handled.value == 0)
            // The same server still accepts what is right.
            #expect(try await SignedCall().send(to: server).status == 200)
        }
    }

    @Test func noRefusalLogsASecret() async throws {
        let log = InMemoryLogHandler()
        var logger = Logger(label: "test", factory: { _ in log })
        logger.logLevel = .trace
        let secrets = [
            "secret-of-a-field", "secret-of-a-query", "secret-of-a-body", "secret-of-a-key", "a secret of the tests",
        ]
        try await withSignedServer(
            rules: { ($0.explainsRefusals, $0.digests) = (true, DigestRules()) }, logger: logger
        ) { server in
            for fault in Self.faults {
                var call = fault.isPost ? SignedCall.post("secret-of-a-body") : SignedCall()
                call.fields[.authorization] = "Bearer secret-of-a-field"
                call.path += call.path.contains("?") ? "&token=secret-of-a-query" : "?token=secret-of-a-query"
                call.keyID = "secret-of-a-key"
                call.covered = [.method, .authority, .path, .query, .field(.authorization)]
                try fault.prepare(&call)
                _ = try await call.send(to: server, body: fault.body.map { Array($0.utf8) }) { request in
                    try fault.change(&request)
                    if let input = fault.input { request.headerFields[.signatureInput] = input }
                }
            }
            _ = try await SignedCall.post("secret-of-a-body").send(to: server)
            let sealing = Curve25519.KeyAgreement.PrivateKey().publicKey
            let changes: [(inout DigestTests.Digested) -> Void] = [
                { $0.secret = SymmetricKey(size: .bits256) }, { $0.time = ServerTime.start - .seconds(121) },
                { $0.sealed = ("secret-of-a-key", SignedServer.secret, sealing) }, { $0.algorithm = .saltedMD5 },
                { $0.head.headerFields[.runwaySealedKey] = "v=1, to=secret-of-a-field" },
            ]
            for change in changes {
                var digested = DigestTests.Digested()
                digested.head.path = "/v1/form?token=secret-of-a-query"
                (digested.body, digested.keyID) = (Array("user=secret-of-a-body".utf8), "secret-of-a-key")
                change(&digested)
                #expect(try await digested.send(to: server).status >= 400)
            }
        }
        #expect(log.entries.count > Self.faults.count)
        for entry in log.entries {
            let text = "\(entry.message) \(entry.metadata) \(String(describing: entry.error))"
            for secret in secrets { #expect(!text.contains(secret), "\(text)") }
        }
    }

    @Test func revokedKeyIsRefusedLikeAnUnknownOne() async throws {
        try await withSignedServer { server in
            server.keys.revoke("k-1")
            let revoked = try await SignedCall().send(to: server)
            var call = SignedCall()
            call.keyID = "nobody"
            let unknown = try await call.send(to: server)
            #expect(revoked.status == unknown.status)
            #expect(revoked.body == unknown.body)
            #expect(try server.outcomes("inactiveKey") == 1)
            #expect(try server.outcomes("unknownKey") == 1)
        }
    }

    @Test(arguments: [HTTPField.Name.signature, .contentDigest, .runwayDigest, .runwaySealedKey])
    func megabyteOfAFieldIsRefusedUnparsed(_ name: HTTPField.Name) async throws {
        // An HTTP implementation refuses such a header section before. The middleware does not depend on that.
        var rules = SignatureRules(tag: "app", origin: PublicOrigin("api.example.com"))
        rules.digests = DigestRules()
        let verifier = RequestVerifier(
            rules, keys: InMemoryKeyDirectory(), nonces: NonceMemory(startedAt: ServerTime.start),
            now: { ServerTime.start })
        let isDigestField = [.runwayDigest, .runwaySealedKey].contains(name)
        var head = try await isDigestField ? DigestTests.Digested().request() : SignedCall.post("a").signed()
        head.headerFields[name] = "sig1=:" + String(repeating: "A", count: 1 << 20) + ":"
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
        let refusal = await #expect(throws: SignatureRefusal.self) {
            _ = try await verifier.verify(request) { refusal in
                RefusedRequest(refusal: refusal, accepted: nil, isExplained: false)
            }
        }
        let reason: SignatureRefusal.Reason = name == .contentDigest ? .components : .malformed
        #expect(refusal?.reason == reason)
        #expect(refusal?.detail == "\(name.canonicalName) exceeds a limit")
    }

    @Test(arguments: [HTTPField.Name.signature, .signatureInput])
    func megabyteOfASignatureReachesNoHandler(_ name: HTTPField.Name) async throws {
        try await withSignedServer { server in
            var request = try await SignedCall().signed()
            request.headerFields[name] = "sig1=:" + String(repeating: "A", count: 1 << 20) + ":"
            // The server closes the connection before all was read: the response can be lost with it.
            if let reply = try? await server.send(request) { #expect(reply.status == 400 && reply.body.isEmpty) }
            #expect(server.handled.value == 0)
            #expect(try await SignedCall().send(to: server).status == 200)
        }
    }

    @Test func tooLargeBodyIsRefused() async throws {
        try await withSignedServer(rules: { $0.maximumBodyByteCount = 10 }) { server in
            let call = SignedCall.post("eleven byte")
            #expect(try await call.send(to: server).reason == "bodyTooLarge")
            let chunked = try await server.send(call.signed(), body: call.body, streaming: true)
            #expect(chunked.status == 413)
            #expect(try await SignedCall.post("ten  bytes").send(to: server).status == 200)
        }
    }

    @Test func failingStoresLetNothingPass() async throws {
        struct Failing: NonceStore, KeyDirectory {
            struct Failure: Error {}
            func claim(_ nonce: Nonce, at now: UnixTime) async throws -> NonceClaim { throw Failure() }
            func record(forKeyID id: String) async throws -> KeyRecord? { throw Failure() }
        }
        try await withSignedServer(nonces: Failing()) { server in
            let reply = try await SignedCall().send(to: server)
            #expect(reply.status == 503)
            #expect(try reply.reason == "store")
        }
        try await withSignedServer(directory: Failing()) { server async throws in
            #expect(try await SignedCall().send(to: server).status == 503)
        }
    }

    @Test func developmentRefusalHasSignatureBase() async throws {
        try await withSignedServer(rules: { $0.explainsRefusals = true }) { server in
            let problem = try await SignedCall().send(to: server) { $0.path = "/v1/echo/a%2Fb?x=2" }.problem
            #expect(problem["detail"].string?.contains("k-1") == true)
            #expect(problem["signatureBase"].string?.contains(#""@query": ?x=2"#) == true)
            var unknown = SignedCall()
            unknown.keyID = "nobody"
            #expect(try await unknown.send(to: server).reason == "unknownKey")
        }
    }

    @Test func serverNonceLetsWrongClockPassOnce() async throws {
        try await withSignedServer(rules: { $0.policy.serverNonces = ServerNonces() }) { server in
            var call = SignedCall()
            call.created = ServerTime.start - .seconds(86_400)
            let refused = try await call.send(to: server)
            #expect(try refused.reason == "tooOld")
            call.nonce = try #require(try refused.fields.signatureRequests().first?.nonce)
            #expect(try await call.send(to: server).status == 200)
            #expect(try await call.send(to: server).reason == "replayed")
        }
    }

    @Test func refusalNamesWhatTheKeyRequires() async throws {
        let field = try #require(HTTPField.Name("X-Client"))
        try await withSignedServer { server in
            var record = KeyRecord(id: "k-1", key: try .hmac(SignedServer.secret), owner: "anna")
            record.requiredComponents = [.field(field)]
            server.keys.insert(record)
            var call = SignedCall()
            let refused = try await call.send(to: server)
            #expect(try refused.reason == "coverage")
            let wanted = try #require(try refused.fields.signatureRequests().first)
            call.fields[field] = "ios"
            call.covered = wanted.components.identifiers
            #expect(try await call.again.send(to: server).status == 200)
        }
    }

    @Test func floodOfFailuresIsLimited() async throws {
        try await withSignedServer(rules: { $0.failureLimits = FailureLimits(burst: 3, perSecond: 1) }) { server in
            var forged = SignedCall()
            forged.key = try .hmac(SymmetricKey(size: .bits256))
            for _ in 0..<3 { #expect(try await forged.again.send(to: server).status == 401) }
            let limited = try await forged.again.send(to: server)
            #expect(limited.status == 429)
            #expect(limited.fields[.retryAfter] == "1")
            #expect(try server.outcomes("tooManyFailures") == 1)
            server.time.set(ServerTime.start + .seconds(1))
            #expect(try await SignedCall().send(to: server).status == 200)
        }
    }

    @Test func receivedBodyThatIsTooLargeCounts() async throws {
        try await withSignedServer(rules: { rules in
            rules.maximumBodyByteCount = 10
            rules.failureLimits = FailureLimits(burst: 1, perSecond: 1)
        }) { server async throws in
            let call = SignedCall.post("eleven byte")
            for _ in 0..<3 { #expect(try await call.again.send(to: server).status == 413) }
            let request = try await call.again.signed()
            #expect(try await server.send(request, body: call.body, streaming: true).status == 413)
            #expect(try await SignedCall().send(to: server).status == 429)
        }
    }

    @Test func unsignedRequestDoesNotCountAgainstSource() async throws {
        try await withSignedServer(rules: { $0.failureLimits = FailureLimits(burst: 1, perSecond: 1) }) {
            server async throws in
            let request = HTTPRequest(method: .get, scheme: "https", authority: "api.example.com", path: "/v1/echo/a")
            for _ in 0..<3 { #expect(try await server.send(request).reason == "unsigned") }
            #expect(try await SignedCall().send(to: server).status == 200)
        }
    }

    /// Who copied a request would otherwise shut out its sender, behind the same address.
    @Test func replayDoesNotCountAgainstSource() async throws {
        try await withSignedServer(rules: { $0.failureLimits = FailureLimits(burst: 1, perSecond: 1) }) {
            server async throws in
            let request = try await SignedCall().signed()
            #expect(try await server.send(request).status == 200)
            for _ in 0..<4 { #expect(try await server.send(request).reason == "replayed") }
            #expect(try await SignedCall().send(to: server).status == 200)
        }
    }

    /// Where refusals are signed the time is judged last, so that it excuses no forgery.
    @Test func forgeryWithAWrongTimeCountsAgainstSource() async throws {
        let signing = ResponseSigning(by: try SigningKey.hmac(SymmetricKey(size: .bits256)), keyID: "s", tag: "app")
        try await withSignedServer(rules: { rules in
            rules.responses = signing
            rules.failureLimits = FailureLimits(burst: 1, perSecond: 1)
        }) { server async throws in
            var call = SignedCall()
            call.created = ServerTime.start - .seconds(500)
            for _ in 0..<4 { #expect(try await call.again.send(to: server).status == 401) }
            call.key = try .hmac(SymmetricKey(size: .bits256))
            #expect(try await call.again.send(to: server).status == 401)
            #expect(try await call.again.send(to: server).status == 429)
        }
    }

    @Test func wrongClockDoesNotCountAgainstSource() async throws {
        try await withSignedServer(rules: { $0.failureLimits = FailureLimits(burst: 1, perSecond: 1) }) {
            server async throws in
            var call = SignedCall()
            call.created = ServerTime.start - .seconds(500)
            for _ in 0..<4 { #expect(try await call.again.send(to: server).reason == "tooOld") }
            #expect(try await SignedCall().send(to: server).status == 200)
        }
    }
}
