import Crypto
import Foundation
import HTTPTypes
import RunwaySignatures
import Testing

/// The examples of the documentation, as they stand there.
struct SignatureExamples {
    private let now = UnixTime(seconds: 1_790_000_000)
    private let secret = SymmetricKey(size: .bits256)

    @Test func aRequestIsSignedAndVerified() async throws {
        let body = Array("{}".utf8)
        let nonce = "a nonce"
        // The server has run for longer than the clock of a signer may be ahead.
        let start = UnixTime(seconds: 1_789_990_000)
        let key = try SigningKey.hmac(secret)
        var request = HTTPRequest(method: .post, scheme: "https", authority: "api.example.com", path: "/orders")
        request.headerFields[.contentDigest] = BodyDigest(of: body).fieldValue
        let components = try CoveredComponents([.method, .authority, .path, .query, .contentDigest])
        let parameters = try SignatureParameters(
            components: components, created: now, nonce: nonce, keyID: "device-7", tag: "app")
        request.headerFields.append(try await SignatureContext(request).signature(parameters, by: key))
        let keys = InMemoryKeyDirectory([KeyRecord(id: "device-7", key: key.verificationKey, owner: "anna")])
        let nonces = NonceMemory(startedAt: start)
        let verifier = SignatureVerifier(policy: VerificationPolicy(tag: "app"), keys: keys, nonces: nonces)
        let signature = try await verifier.verify(SignatureContext(request), hasBody: true, at: now)
        try signature.verifyBody(body, at: now)
        #expect(signature.owner == "anna")
    }

    @Test func aRequestIsVerifiedWithItsBody() async throws {
        let body = Array("{}".utf8)
        let start = UnixTime(seconds: 1_789_990_000)
        let key = try SigningKey.hmac(secret)
        var request = HTTPRequest(method: .post, scheme: "https", authority: "api.example.com", path: "/orders")
        request.headerFields[.contentDigest] = BodyDigest(of: body).fieldValue
        let components = try CoveredComponents([.method, .authority, .path, .query, .contentDigest])
        let parameters = try SignatureParameters(
            components: components, created: now, nonce: SignatureParameters.randomNonce(), keyID: "device-7",
            tag: "app")
        request.headerFields.append(try await SignatureContext(request).signature(parameters, by: key))
        let keys = InMemoryKeyDirectory([KeyRecord(id: "device-7", key: key.verificationKey, owner: "anna")])
        let nonces = NonceMemory(startedAt: start)
        let verifier = SignatureVerifier(policy: VerificationPolicy(tag: "app"), keys: keys, nonces: nonces)
        let signature = try await verifier.verify(SignatureContext(request), body: body, at: now)
        #expect(signature.owner == "anna")
    }

    @Test func theLandingPageHasTheseLines() throws {
        let here = URL(filePath: #filePath)
        let root = (0..<4).reduce(here) { url, _ in url.deletingLastPathComponent() }
        let page = try String(
            contentsOf: root.appending(path: "Sources/RunwaySignatures/RunwaySignatures.docc/RunwaySignatures.md"),
            encoding: .utf8)
        let compiled = try String(contentsOf: here, encoding: .utf8)
        let blocks = page.split(separator: "```swift\n").dropFirst().compactMap { $0.split(separator: "```").first }
        #expect(blocks.count == 2)
        for line in blocks.joined(separator: "\n").split(separator: "\n") {
            #expect(compiled.contains(line), "\(line)")
        }
    }

    @Test func aBodyIsVerifiedAsItIsReceived() async throws {
        let (body, parts) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
        parts.yield([1])
        parts.yield([2])
        parts.finish()
        var request = HTTPRequest(method: .post, scheme: "https", authority: "api.example.com", path: "/orders")
        request.headerFields[.contentDigest] = BodyDigest(of: [1, 2]).fieldValue
        let claimed = try BodyDigest(.contentDigest, in: request.headerFields)
        var digester = BodyDigester(claimed.algorithms)
        for try await part in body { digester.update(part) }
        try claimed.verify(digester.finish())
    }

    @Test func aRequestHasASaltedDigest() async throws {
        let (body, nonce) = ([UInt8](), [UInt8](repeating: 7, count: 16))
        let key = try SigningKey.salted(secret)
        var request = HTTPRequest(method: .get, scheme: "https", authority: "api.example.com", path: "/orders")
        let lines = try CanonicalRequest(request, body: body, time: now, nonce: nonce)
        request.headerFields[.runwayDigest] = try await SaltedDigest(lines, keyID: "partner-3", by: key).fieldValue
        #expect(try SaltedDigest(request.headerFields).isValid(of: lines, by: key.verificationKey))
    }

    @Test func aSealedKeyIsVerified() async throws {
        struct UnknownCaller: Error {}
        let serverKey = Curve25519.KeyAgreement.PrivateKey()
        let (body, nonce) = ([UInt8](), [UInt8](repeating: 7, count: 16))
        let key = try SigningKey.salted(secret)
        let keys = InMemoryKeyDirectory([KeyRecord(id: "partner-3", key: key.verificationKey, owner: "partner")])
        var request = HTTPRequest(method: .get, scheme: "https", authority: "api.example.com", path: "/orders")
        do {
            let lines = try CanonicalRequest(request, body: body, time: now, nonce: nonce)
            request.headerFields[.runwayDigest] = try await SaltedDigest(lines, keyID: "partner-3", by: key).fieldValue
            let caller = SealedKey.Caller(id: "partner-3", secret: secret)
            let sealed = try SealedKey(caller, to: serverKey.publicKey, serverKeyID: "server-1", for: lines)
            request.headerFields[.runwaySealedKey] = sealed.fieldValue
        }
        let digest = try SaltedDigest(request.headerFields)
        let lines = try digest.canonicalRequest(of: request, body: body)
        guard let record = keys.record(forKeyID: digest.keyID), record.isActive(at: now) else { throw UnknownCaller() }
        try SealedKey(request.headerFields).verify(digest, of: lines, by: record.key, openedWith: serverKey)
    }

    @Test func componentsAreNamed() throws {
        let covered: [ComponentIdentifier] = [.method, .authority, .path, .query, .field(.contentType)]
        #expect(try CoveredComponents(covered).contains(.path))
    }
}
