import Crypto
import RunwaySignatures
import Testing

@testable import RunwayTUF

struct MetadataKeyTests {
    private func key(_ type: String, _ scheme: String, _ text: String) throws -> MetadataKey {
        try MetadataKey([
            "keytype": .string(type), "scheme": .string(scheme), "keyval": .object(["public": .string(text)]),
        ])
    }

    @Test(arguments: [
        ("ed25519", "ed25519", ForeignSignature.ed25519Key, ForeignSignature.ed25519),
        ("ecdsa", "ecdsa-sha2-nistp256", ForeignSignature.p256Key, ForeignSignature.p256),
        ("ecdsa-sha2-nistp256", "ecdsa-sha2-nistp256", ForeignSignature.p256Key, ForeignSignature.p256),
        ("rsa", "rsassa-pss-sha256", ForeignSignature.rsaPSSKey, ForeignSignature.rsaPSS),
    ])
    func foreignSignaturesAreVerified(_ type: String, _ scheme: String, _ text: String, _ hex: String) throws {
        let key = try key(type, scheme, text)
        let signature = try #require(Hexadecimal.bytes(hex))
        #expect(key.isValid(signature, of: Array("runway".utf8)))
        #expect(!key.isValid(signature, of: Array("runwaY".utf8)))
        #expect(!key.isValid(signature.dropLast(), of: Array("runway".utf8)))
        #expect(!key.isValid([], of: Array("runway".utf8)))
    }

    @Test func identifiersAreInteroperable() throws {
        #expect(try key("ed25519", "ed25519", ForeignSignature.ed25519Key).id == ForeignSignature.ed25519ID)
        #expect(try key("ecdsa", "ecdsa-sha2-nistp256", ForeignSignature.p256Key).id == ForeignSignature.p256ID)
        let p256 = try P256.Signing.PublicKey(pemRepresentation: ForeignSignature.p256Key)
        #expect(MetadataKey(p256).id == ForeignSignature.p256ID)
    }

    @Test func unsupportedKeysVerifyNothing() throws {
        let signature = try #require(Hexadecimal.bytes(ForeignSignature.ed25519))
        for (type, scheme, text) in [
            ("ed25519", "ed25519ph", ForeignSignature.ed25519Key), ("ed25519", "ed25519", "00"),
            ("rsa", "rsa-pkcs1v15-sha256", ForeignSignature.rsaPSSKey), ("ecdsa", "ecdsa-sha2-nistp256", "x"),
        ] {
            #expect(!(try key(type, scheme, text).isValid(signature, of: Array("runway".utf8))))
        }
    }

    @Test func aKeyCountsOnce() throws {
        let (one, other) = (TestKey(), TestKey())
        let signed: CanonicalObject = ["_type": "x"]
        let bytes = CanonicalValue.object(signed).canonicalBytes
        let table = try KeyTable(in: [
            "keys": .object([
                "a": .object(one.listed.object), "b": .object(one.listed.object), "c": .object(other.listed.object),
            ])
        ])
        let role = RoleKeys(keyIDs: ["a", "b", "c", "absent"], threshold: 3)
        func count(_ signatures: SignedDocument.Signature...) -> Int {
            table.signers(of: SignedDocument(signed: signed, signatures: signatures), for: role)
        }
        #expect(count(try one.sign(bytes, as: "a"), try one.sign(bytes, as: "b")) == 1)
        #expect(count(try one.sign(bytes, as: "a"), try other.sign(bytes, as: "c")) == 2)
        #expect(count(try one.sign(bytes, as: "absent"), try other.sign(bytes, as: "a")) == 0)
    }

    @Test func foreignRolesDoNotCount() throws {
        let key = TestKey()
        let signed: CanonicalObject = ["_type": "x"]
        let table = try KeyTable(in: ["keys": TestRepository.keyTable([key])])
        let document = SignedDocument(
            signed: signed, signatures: [try key.sign(CanonicalValue.object(signed).canonicalBytes)])
        #expect(table.signers(of: document, for: RoleKeys(keyIDs: ["other"], threshold: 1)) == 0)
        #expect(table.signers(of: document, for: RoleKeys(keyIDs: [key.id], threshold: 1)) == 1)
    }
}
