import Crypto
import CryptoExtras
import Testing

@testable import RunwaySignatures

/// What keys sign and verify, and what they show of themselves.
struct KeyTests {
    static func all() throws -> [SigningKey] {
        let rsa = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        return try [
            .hmac(SymmetricKey(size: .bits256)), .ed25519(.init()), .p256(.init()), .p384(.init()), .rsaPSS(rsa),
            .rsaPKCS1(rsa),
        ]
    }

    @Test func everyAlgorithmVerifiesItsOwnSignatures() throws {
        let keys = try Self.all()
        #expect(keys.map(\.algorithm) == SignatureAlgorithm.all)
        let base = Array("base".utf8)
        for key in keys {
            let signature = try key.signature(of: base)
            for other in keys {
                #expect(other.verificationKey.isValid(signature, of: base) == (other.algorithm == key.algorithm))
            }
            #expect(!key.verificationKey.isValid(signature, of: base + [0]))
            #expect(!key.verificationKey.isValid(Array(signature.dropLast()), of: base))
            #expect(!key.verificationKey.isValid(signature + [0], of: base))
            #expect(!key.verificationKey.isValid([], of: base))
        }
    }

    @Test func descriptionsHaveNothingOfTheKey() throws {
        let secret = SymmetricKey(data: Array("a secret that nobody may see".utf8))
        let key = try SigningKey.hmac(secret)
        var dumped = ""
        dump(key, to: &dumped)
        dump(key.verificationKey, to: &dumped)
        let texts = [
            "\(key)", String(reflecting: key), "\(key.verificationKey)", String(reflecting: [key.verificationKey]),
            dumped,
        ]
        for text in texts {
            #expect(!text.contains("a secret") && text.contains("hmac-sha256") && !text.contains("storage"))
        }
    }

    @Test func shortSecretsAreRefused() {
        let short = SymmetricKey(data: [UInt8](repeating: 1, count: 15))
        #expect(throws: SignatureError(.invalidKey, "the secret")) { try SigningKey.hmac(short) }
        #expect(throws: SignatureError(.invalidKey, "the secret")) { try VerificationKey.hmac(short) }
    }

    @Test func algorithmsAreFoundByName() {
        for algorithm in SignatureAlgorithm.all { #expect(SignatureAlgorithm(name: algorithm.name) == algorithm) }
        #expect(SignatureAlgorithm(name: "none") == nil)
    }
}
