import Crypto
import Foundation
import HTTPTypes
import RunwayServer
import RunwaySignatures
import Testing

/// Requests of registered third parties: salted digests and sealed keys.
@Suite(.timeLimit(.minutes(5)))
struct DigestTests {
    private static let serverKey = Curve25519.KeyAgreement.PrivateKey()

    /// A request with a digest, and a sealed key if wanted.
    struct Digested {
        var head = HTTPRequest(
            method: .post, scheme: "https", authority: "api.example.com", path: "/v1/form?b=2&a=x%2Fy",
            headerFields: [.contentType: "application/x-www-form-urlencoded"])
        var body = Array("user=anna&password=a%20b".utf8)
        var keyID = "partner-3"
        var secret = SignedServer.secret
        var algorithm = SignatureAlgorithm.saltedSHA256
        var time = ServerTime.start
        var nonce = (0..<16).map { _ in UInt8.random(in: 0...255) }
        var sealed: (id: String, secret: SymmetricKey, to: Curve25519.KeyAgreement.PublicKey)?

        func request() async throws -> HTTPRequest {
            var head = head
            let lines = try CanonicalRequest(head, body: body, time: time, nonce: nonce)
            head.headerFields[.runwayDigest] =
                try await SaltedDigest(lines, keyID: keyID, by: SigningKey.salted(secret, by: algorithm)).fieldValue
            if let sealed {
                head.headerFields[.runwaySealedKey] =
                    try SealedKey(
                        SealedKey.Caller(id: sealed.id, secret: sealed.secret), to: sealed.to, serverKeyID: "server-1",
                        for: lines
                    ).fieldValue
            }
            return head
        }

        func send(to server: SignedServer, body sent: [UInt8]? = nil) async throws -> SignedCall.Reply {
            try await server.send(request(), body: sent ?? body)
        }
    }

    private static func allow(_ rules: inout SignatureRules) { rules.digests = DigestRules() }

    private static func allowSealed(_ rules: inout SignatureRules) {
        rules.digests = DigestRules()
        rules.digests?.serverKeys = ["server-1": serverKey]
        rules.digests?.requiresSealedKey = true
    }

    @Test(arguments: SignedServer.Wire.allCases)
    func digestIdentifiesRegisteredCaller(_ wire: SignedServer.Wire) async throws {
        try await withSignedServer(wire, rules: Self.allow) { server async throws in
            let digested = Digested()
            #expect(try await digested.send(to: server).text == "partner")
            #expect(try await digested.send(to: server).reason == "replayed")
            // A signature still does.
            #expect(try await SignedCall().send(to: server).status == 200)
        }
    }

    @Test(arguments: [SignatureAlgorithm.saltedSHA256, .saltedMD5])
    func digestByAnAllowedAlgorithmIsAccepted(_ algorithm: SignatureAlgorithm) async throws {
        try await withSignedServer { rules in
            Self.allow(&rules)
            rules.digests?.algorithms = [algorithm]
        } _: { server async throws in
            server.keys.insert(
                KeyRecord(id: "partner-3", key: try .salted(SignedServer.secret, by: algorithm), owner: "partner"))
            var digested = Digested()
            digested.algorithm = algorithm
            #expect(try await digested.send(to: server).text == "partner")
            digested = Digested()
            digested.algorithm = algorithm == .saltedMD5 ? .saltedSHA256 : .saltedMD5
            #expect(try await digested.send(to: server).status == 401)
        }
    }

    @Test func digestIsRefusedUnlessAllowed() async throws {
        try await withSignedServer { server async throws in
            #expect(try await Digested().send(to: server).reason == "unsigned")
        }
    }

    @Test func brokenDigestIsRefusedWithItsReason() async throws {
        try await withSignedServer(rules: Self.allow) { server in
            let other = try await Digested().send(to: server, body: Array("user=ben&password=a%20b".utf8))
            #expect(try other.reason == "invalid")
            var digested = Digested()
            digested.time = ServerTime.start - .seconds(121)
            #expect(try await digested.send(to: server).reason == "tooOld")
            digested.time = ServerTime.start + .seconds(31)
            #expect(try await digested.send(to: server).reason == "inFuture")
            digested = Digested()
            digested.secret = SymmetricKey(size: .bits256)
            #expect(try await digested.send(to: server).reason == "invalid")
            digested = Digested()
            digested.keyID = "nobody"
            #expect(try await digested.send(to: server).reason == "invalid")
            // The key of a signature makes no digest.
            digested.keyID = "k-1"
            #expect(try await digested.send(to: server).reason == "invalid")
            digested = Digested()
            digested.algorithm = .saltedMD5
            #expect(try await digested.send(to: server).status == 401)
            var request = try await Digested().request()
            request.headerFields.append(HTTPField(name: .runwayDigest, value: "v=1"))
            #expect(try await server.send(request, body: Digested().body).reason == "malformed")
            #expect(server.handled.value == 0)
        }
    }

    @Test func digestIsNoWayAroundSignature() async throws {
        try await withSignedServer(rules: Self.allow) { server in
            var request = try await Digested().request()
            request.headerFields[.signature] = "sig1=:AAAA:"
            #expect(try await server.send(request, body: Digested().body).reason == "malformed")
        }
    }

    @Test func signatureOfAnotherTagDoesNotReplaceDigest() async throws {
        try await withSignedServer(rules: Self.allow) { server in
            var request = try await Digested().request()
            request.headerFields.append(
                try LabelledSignature(
                    label: "proxy",
                    parameters: SignatureParameters(components: CoveredComponents([.method]), tag: "proxy"),
                    signature: [1, 2, 3]))
            #expect(try await server.send(request, body: Digested().body).text == "partner")
        }
    }

    /// A digest can't have a nonce of the server: its caller can only wait.
    @Test func callerOfADigestWaitsAfterAStart() async throws {
        try await withSignedServer(isFresh: true, rules: Self.allow) { server in
            var digested = Digested()
            let refused = try await digested.send(to: server)
            #expect(try refused.status == 503 && refused.reason == "nonceUnknown")
            #expect(refused.fields[.retryAfter] == "30")
            #expect(refused.fields[.acceptSignature] == nil && refused.fields[.wwwAuthenticate] == nil)
            server.time.set(ServerTime.start + .seconds(30))
            digested.time = server.time.now
            #expect(try await digested.send(to: server).text == "partner")
        }
    }

    @Test func callerOfADigestWaitsForRoom() async throws {
        let nonces = NonceMemory(startedAt: ServerTime.start - .seconds(60), maximumNonces: 1)
        try await withSignedServer(nonces: nonces, rules: Self.allow) { server async throws in
            #expect(try await Digested().send(to: server).text == "partner")
            let refused = try await Digested().send(to: server)
            #expect(refused.status == 503 && refused.fields[.retryAfter] == "30")
            // A signature still gets the nonce that it can use.
            #expect(try await SignedCall().send(to: server).status == 401)
        }
    }

    @Test func digestIsRefusedIfMoreIsRequired() async throws {
        let more: @Sendable (inout SignatureRules) -> Void = { rules in
            Self.allow(&rules)
            rules.policy.requiredComponents.append(.field(.userAgent))
        }
        try await withSignedServer(rules: more) { server async throws in
            #expect(try await Digested().send(to: server).reason == "coverage")
        }
        try await withSignedServer(rules: Self.allow) { server async throws in
            var record = KeyRecord(id: "partner-3", key: try .salted(SignedServer.secret), owner: "partner")
            record.requiredComponents = [.contentDigest]
            server.keys.insert(record)
            #expect(try await Digested().send(to: server).status == 200)
            record.requiredComponents = [.authority]
            server.keys.insert(record)
            #expect(try await Digested().send(to: server).reason == "coverage")
        }
    }

    @Test func sealedKeyIdentifiesRegisteredCaller() async throws {
        try await withSignedServer(rules: Self.allowSealed) { server async throws in
            var digested = Digested()
            #expect(try await digested.send(to: server).reason == "malformed")
            digested.sealed = ("partner-3", SignedServer.secret, Self.serverKey.publicKey)
            #expect(try await digested.send(to: server).text == "partner")
        }
    }

    @Test func brokenSealedKeyIsRefused() async throws {
        try await withSignedServer(rules: Self.allowSealed) { server async throws in
            var digested = Digested()
            digested.sealed = ("partner-4", SignedServer.secret, Self.serverKey.publicKey)
            #expect(try await digested.send(to: server).reason == "invalid")
            digested.sealed = ("partner-3", SymmetricKey(size: .bits256), Self.serverKey.publicKey)
            #expect(try await digested.send(to: server).reason == "invalid")
            let stranger = Curve25519.KeyAgreement.PrivateKey().publicKey
            digested.sealed = ("partner-3", SignedServer.secret, stranger)
            #expect(try await digested.send(to: server).reason == "invalid")
            // Both made by a caller who is not registered with this secret.
            let secret = SymmetricKey(size: .bits256)
            (digested.secret, digested.sealed) = (secret, ("partner-3", secret, Self.serverKey.publicKey))
            #expect(try await digested.send(to: server).reason == "invalid")
            #expect(server.handled.value == 0)
        }
    }
}
