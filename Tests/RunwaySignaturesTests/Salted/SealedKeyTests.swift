import Crypto
import Foundation
import HTTPTypes
import Testing

@testable import RunwaySignatures

/// The sealed key: whose secret it must have, for which request and to which server.
struct SealedKeyTests {
    private static let secret = SymmetricKey(data: Array("runway test secret 0123456789".utf8))
    private static let refused = SignatureError(.invalidSealedKey, "runway-sealed-key")
    private static let request = HTTPRequest(method: .get, scheme: "https", authority: "a.example", path: "/a")

    private let server = Curve25519.KeyAgreement.PrivateKey()

    private func lines(body: [UInt8] = []) throws -> CanonicalRequest {
        try CanonicalRequest(Self.request, body: body, time: Exchange.now, nonce: [UInt8](0..<16))
    }

    /// A sealed key and a digest, as a server reads them.
    private func received(
        _ id: String, _ secret: SymmetricKey, digestOf digestID: String, by digestSecret: SymmetricKey
    ) async throws -> (sealed: SealedKey, digest: SaltedDigest) {
        let caller = SealedKey.Caller(id: id, secret: secret)
        let sealed = try SealedKey(caller, to: server.publicKey, serverKeyID: "s", for: lines())
        let digest = try await SaltedDigest(lines(), keyID: digestID, by: SigningKey.salted(digestSecret))
        return (
            try SealedKey([.runwaySealedKey: sealed.fieldValue]),
            try SaltedDigest([.runwayDigest: digest.fieldValue])
        )
    }

    @Test func registeredCallersAreAccepted() async throws {
        let (sealed, digest) = try await received("partner", Self.secret, digestOf: "partner", by: Self.secret)
        try sealed.verify(digest, of: lines(), by: .salted(Self.secret), openedWith: server)
    }

    /// Everyone can seal to the server: a forger seals the identifier of a registered caller with a secret of its own.
    @Test func secretsThatTheSenderChoseAreRefused() async throws {
        let chosen = SymmetricKey(data: Array("a secret of the forger 01234".utf8))
        let (sealed, digest) = try await received("partner", chosen, digestOf: "partner", by: chosen)
        #expect(throws: Self.refused) {
            try sealed.verify(digest, of: lines(), by: .salted(Self.secret), openedWith: server)
        }
    }

    @Test func anotherCallersSealedKeyIsRefused() async throws {
        let (sealed, digest) = try await received("forger", Self.secret, digestOf: "partner", by: Self.secret)
        #expect(throws: Self.refused) {
            try sealed.verify(digest, of: lines(), by: .salted(Self.secret), openedWith: server)
        }
    }

    @Test func digestsByOtherSecretsAreRefused() async throws {
        let other = SymmetricKey(data: Array("another secret of a caller 0".utf8))
        let (sealed, digest) = try await received("partner", Self.secret, digestOf: "partner", by: other)
        for key in try [VerificationKey.salted(Self.secret), .salted(other), .hmac(Self.secret)] {
            #expect(throws: Self.refused) { try sealed.verify(digest, of: lines(), by: key, openedWith: server) }
        }
    }

    @Test func sealedKeyFitsOneRequestAndOneServer() async throws {
        let (sealed, digest) = try await received("partner", Self.secret, digestOf: "partner", by: Self.secret)
        let key = try VerificationKey.salted(Self.secret)
        #expect(sealed.open(with: server, for: try lines())?.secret == Self.secret)
        #expect(sealed.open(with: Curve25519.KeyAgreement.PrivateKey(), for: try lines()) == nil)
        #expect(sealed.open(with: server, for: try lines(body: [1])) == nil)
        #expect(throws: Self.refused) { try sealed.verify(digest, of: lines(body: [1]), by: key, openedWith: server) }
        #expect(throws: Self.refused) {
            try sealed.verify(digest, of: lines(), by: key, openedWith: Curve25519.KeyAgreement.PrivateKey())
        }
    }

    @Test func callersDoNotShowTheirSecrets() {
        let caller = SealedKey.Caller(id: "partner", secret: Self.secret)
        var dumped = ""
        dump(caller, to: &dumped)
        #expect("\(caller)" == "Caller(partner)" && !dumped.contains("secret"))
    }

    /// RFC 9180 appendix A.2.1, sequence numbers 0 to 2: the suite of the sealed key.
    @Test func hpkeOpensTheVectorsOfTheRFC() throws {
        func bytes(_ text: String) throws -> Data { Data(try #require(Hex.decoded(text[...]))) }
        let key = try Curve25519.KeyAgreement.PrivateKey(
            rawRepresentation: bytes("8057991eef8f1f1af18f4a9491d16a1ce333f695d4db8e38da75975c4478e0fb"))
        var recipient = try HPKE.Recipient(
            privateKey: key, ciphersuite: .init(kem: .Curve25519_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .chaChaPoly),
            info: bytes("4f6465206f6e2061204772656369616e2055726e"),
            encapsulatedKey: bytes("1afa08d3dec047a643885163f1180476fa7ddb54c6a8029ea33f95796bf2ac4a"))
        for (aad, text, tag) in [
            (
                "436f756e742d30", "1c5250d8034ec2b784ba2cfd69dbdb8af406cfe3ff938e131f0def8c8b",
                "60b4db21993c62ce81883d2dd1b51a28"
            ),
            (
                "436f756e742d31", "6b53c051e4199c518de79594e1c4ab18b96f081549d45ce015be002090",
                "bb119e85285337cc95ba5f59992dc98c"
            ),
            (
                "436f756e742d32", "71146bd6795ccc9c49ce25dda112a48f202ad220559502cef1f34271e0",
                "cb4b02b4f10ecac6f48c32f878fae86b"
            ),
        ] {
            let plain = try recipient.open(bytes(text + tag), authenticating: bytes(aad))
            #expect(String(decoding: plain, as: UTF8.self) == "Beauty is truth, truth beauty")
        }
    }
}
