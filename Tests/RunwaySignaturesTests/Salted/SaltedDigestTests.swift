import Crypto
import Foundation
import HTTPTypes
import Testing

@testable import RunwaySignatures

/// The salted digest and the sealed key: the test vectors of docs/formats.md, and what is refused.
struct SaltedDigestTests {
    private static let secret = SymmetricKey(data: Array("runway test secret 0123456789".utf8))
    private static let nonce = [UInt8](0..<16)

    /// The blocks of code of docs/formats.md that are a request, and the canonical text after each, if there is one.
    private static func vectors() throws -> [(message: MessageText, canonical: String?)] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/formats.md"), encoding: .utf8)
        let blocks = page.split(separator: "```", omittingEmptySubsequences: false).enumerated()
            .filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
        return try blocks.indices.filter { blocks[$0].hasPrefix("http\n") }.map { index in
            let text = blocks[index].dropFirst(5).dropLast(1)
            let next = blocks[index...].dropFirst().first.flatMap { block in
                ["\nrunway-digest-1", "\n\"@"].contains(where: block.hasPrefix) ? block : nil
            }
            return (try MessageText(text.utf8), next.map { String($0.dropFirst(1).dropLast(1)) })
        }
    }

    @Test func vectorsOfThePageAreReproduced() async throws {
        var digests = 0
        for vector in try Self.vectors() where vector.message.headerFields.contains(.runwayDigest) {
            let request = try #require(vector.message.request())
            let received = try SaltedDigest(request.headerFields)
            let lines = try received.canonicalRequest(of: request, body: vector.message.body)
            if let canonical = vector.canonical { #expect(String(decoding: lines.bytes, as: UTF8.self) == canonical) }
            let key = try SigningKey.salted(Self.secret, by: received.algorithm)
            #expect(received.isValid(of: lines, by: key.verificationKey))
            let made = try await SaltedDigest(
                CanonicalRequest(request, body: vector.message.body, time: received.time, nonce: Self.nonce),
                keyID: "partner-3", by: key)
            #expect(made == received && made.fieldValue == request.headerFields[.runwayDigest])
            digests += 1
        }
        #expect(digests == 3)
    }

    @Test func theSealedKeyOfThePageIsValid() throws {
        let vector = try #require(Self.vectors().first { $0.message.headerFields.contains(.runwaySealedKey) })
        let request = try #require(vector.message.request())
        let digest = try SaltedDigest(request.headerFields)
        let lines = try digest.canonicalRequest(of: request, body: vector.message.body)
        let serverKey = try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: [UInt8](32..<64))
        let sealed = try SealedKey(request.headerFields)
        try sealed.verify(digest, of: lines, by: .salted(Self.secret), openedWith: serverKey)
        #expect(sealed.serverKeyID == "server-1" && digest.keyID == "partner-3")
        #expect(sealed.fieldValue == request.headerFields[.runwaySealedKey])
    }

    @Test func theSignatureOfThePageIsValid() throws {
        let vector = try #require(Self.vectors().first { $0.message.headerFields.contains(.signature) })
        let request = try #require(vector.message.request())
        let signature = try #require(request.headerFields.signatures().first)
        let base = try SignatureContext(request).signatureBase(for: signature.parameters)
        #expect(String(decoding: base, as: UTF8.self) == vector.canonical)
        #expect(try VerificationKey.hmac(Self.secret).isValid(signature.signature, of: base))
        try BodyDigest(.contentDigest, in: request.headerFields).verify(BodyDigest(of: vector.message.body))
    }

    @Test func anythingCoveredThatChangesIsInvalid() async throws {
        let request = HTTPRequest(
            method: .post, scheme: "https", authority: "a.example", path: "/a?x=1",
            headerFields: [.contentType: "application/x-www-form-urlencoded; charset=utf-8"])
        let lines = try CanonicalRequest(request, body: Array("y=2".utf8), time: Exchange.now, nonce: Self.nonce)
        let key = try SigningKey.salted(Self.secret)
        let digest = try await SaltedDigest(lines, keyID: "k", by: key)
        #expect(digest.isValid(of: lines, by: key.verificationKey))
        for (method, path, body, isSame) in [
            (HTTPRequest.Method.put, "/a?x=1", "y=2", false), (.post, "/b?x=1", "y=2", false),
            (.post, "/a?x=2", "y=2", false),
            (.post, "/a?x=1&z", "y=2", false), (.post, "/a?y=2", "x=1", false), (.post, "/a?%78=1", "y=2", false),
            (.post, "/a?x=1&", "y=2", false), (.post, "/a?x=1", "y=2", true),
        ] {
            var changed = request
            (changed.method, changed.path) = (method, path)
            let received = try digest.canonicalRequest(of: changed, body: Array(body.utf8))
            #expect(digest.isValid(of: received, by: key.verificationKey) == isSame, "\(method) \(path) \(body)")
        }
        for type in ["application/json", "application/x-www-form-urlencoded", nil] {
            var changed = request
            changed.headerFields[.contentType] = type
            let received = try digest.canonicalRequest(of: changed, body: Array("y=2".utf8))
            #expect(!digest.isValid(of: received, by: key.verificationKey))
        }
        for other in try [SigningKey.salted(Self.secret, by: .saltedMD5), .hmac(Self.secret)] {
            #expect(!digest.isValid(of: lines, by: other.verificationKey))
        }
        await #expect(throws: SignatureError(.invalidKey, "the secret")) {
            try await SaltedDigest(lines, keyID: "k", by: SigningKey.hmac(Self.secret))
        }
        await #expect(throws: SignatureError(.invalidValue, "key")) {
            try await SaltedDigest(lines, keyID: "a,b", by: key)
        }
    }

    /// Four bits of the last of a nonce's 22 digits are unused.
    @Test func aNonceHasOneSpelling() throws {
        let spellings = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".map { last in
            "v=1, key=k, alg=sha-256, ts=1, nonce=AAECAwQFBgcICQoLDA0OD\(last), sig=00"
        }
        let read = spellings.compactMap { try? SaltedDigest([.runwayDigest: $0]) }
        #expect(read.map { $0.nonce.suffix(1) } == ["A", "Q", "g", "w"])
    }

    @Test func brokenFieldsAreRefused() throws {
        let valid = "v=1, key=k, alg=sha-256, ts=1, nonce=AAECAwQFBgcICQoLDA0ODw, sig=00"
        #expect(try SaltedDigest([.runwayDigest: valid]).keyID == "k")
        #expect(
            try SaltedDigest([.runwayDigest: "sig=00,nonce=AAECAwQFBgcICQoLDA0ODw,\tts=1,alg=md5,key=k,v=1"]).algorithm
                == .saltedMD5)
        for (part, change) in [
            ("v=1", "v=2"), ("v=1, ", ""), ("key=k", "key="), ("key=k", "key=k k"), ("key=k", "key=\"k\""),
            ("alg=sha-256", "alg=sha-512"),
            ("ts=1", "ts=01"), ("ts=1", "ts=-1"), ("ts=1", "ts=1.0"), ("ts=1", "ts=99999999999999"),
            ("DA0ODw", "DA0ODw=="), ("sig=00", "sig=0"),
            ("sig=00", "sig=AA"), ("sig=00", "sig=00, x=1"), ("sig=00", "sig=00, sig=00"), ("sig=00", "sig=00,"),
            ("AAECAwQF", "AA"),
            (valid, ""), (valid, String(repeating: "a=b,", count: 300_000)),
        ] {
            let fields: HTTPFields = [.runwayDigest: valid.replacing(part, with: change)]
            #expect(throws: SignatureError.self, "\(change)") { try SaltedDigest(fields) }
        }
        var twice: HTTPFields = [.runwayDigest: valid]
        twice.append(HTTPField(name: .runwayDigest, value: valid))
        #expect(throws: SignatureError(.duplicateName, "runway-digest")) { try SaltedDigest(twice) }
        #expect(throws: SignatureError(.missing, "runway-sealed-key")) { try SealedKey(twice) }
        for field in ["v=1, to=s, enc=AA, box=AA", "v=1, to=s", "v=1, to=s, enc=*, box=AA", "x"] {
            #expect(throws: SignatureError.self) { try SealedKey([.runwaySealedKey: field]) }
        }
    }
}
