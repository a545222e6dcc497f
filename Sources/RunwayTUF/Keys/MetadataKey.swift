package import Crypto
import CryptoExtras
import RunwaySignatures

/// A public key in metadata (§4.2).
///
/// Signatures of `ed25519`, `ecdsa-sha2-nistp256` and `rsassa-pss-sha256` are verified. A key of any other scheme stays
/// in its document, and no signature by it is valid.
package struct MetadataKey: Sendable {
    private enum Storage: Sendable {
        case ed25519(Curve25519.Signing.PublicKey)
        case p256(P256.Signing.PublicKey)
        case rsaPSS(_RSA.Signing.PublicKey)
        case unsupported
    }

    /// The member of the document, with members that this version does not know.
    package let object: CanonicalObject
    private let storage: Storage

    /// Reads a key. Throws ``MalformedMetadata`` if a member is absent. No signature by an invalid key is valid.
    package init(_ object: CanonicalObject) throws(MalformedMetadata) {
        let (type, scheme) = (try object.string("keytype"), try object.string("scheme"))
        let text = try object.object("keyval").string("public")
        self.object = object
        storage = Self.storage(type, scheme, text) ?? .unsupported
    }

    private static func storage(_ type: String, _ scheme: String, _ text: String) -> Storage? {
        switch (type, scheme) {
        case ("ed25519", "ed25519"):
            Hexadecimal.bytes(text).flatMap { try? Curve25519.Signing.PublicKey(rawRepresentation: $0) }
                .map(Storage.ed25519)
        case ("ecdsa", "ecdsa-sha2-nistp256"), ("ecdsa-sha2-nistp256", "ecdsa-sha2-nistp256"):
            (try? P256.Signing.PublicKey(pemRepresentation: text)).map(Storage.p256)
        case ("rsa", "rsassa-pss-sha256"):
            // The initialiser refuses keys of fewer than 2048 bits, as §4.2 requires.
            (try? _RSA.Signing.PublicKey(pemRepresentation: text)).map(Storage.rsaPSS)
        default: nil
        }
    }

    /// The key of a signer.
    package init(_ key: Curve25519.Signing.PublicKey) {
        object = Self.object("ed25519", "ed25519", Hexadecimal.text(key.rawRepresentation))
        storage = .ed25519(key)
    }

    /// The key of a signer.
    package init(_ key: P256.Signing.PublicKey) {
        // The text ends with a line feed in the form of other implementations, which makes their key identifier.
        object = Self.object("ecdsa", "ecdsa-sha2-nistp256", key.pemRepresentation + "\n")
        storage = .p256(key)
    }

    private static func object(_ type: String, _ scheme: String, _ text: String) -> CanonicalObject {
        ["keytype": .string(type), "scheme": .string(scheme), "keyval": .object(["public": .string(text)])]
    }

    /// The SHA-256 digest of the canonical form, by which a signature names its key (§4.2).
    package var id: String { Hexadecimal.sha256(CanonicalValue.object(object).canonicalBytes) }

    /// The bytes of the key itself. Keys of equal bytes are one key, under whatever identifiers and spellings a
    /// document lists it.
    var identity: [UInt8] {
        switch storage {
        case .ed25519(let key): [1] + key.rawRepresentation
        case .p256(let key): [2] + key.rawRepresentation
        case .rsaPSS(let key): [3] + key.derRepresentation
        case .unsupported: []
        }
    }

    /// Returns whether a signature of bytes is valid for the key. Signatures of P-256 are DER; RSA-PSS has a salt of 32
    /// bytes.
    func isValid(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
        switch storage {
        case .ed25519(let key): key.isValidSignature(signature, for: bytes)
        case .p256(let key):
            (try? P256.Signing.ECDSASignature(derRepresentation: signature)).map {
                key.isValidSignature($0, for: bytes)
            }
                ?? false
        case .rsaPSS(let key):
            key.isValidSignature(.init(rawRepresentation: signature), for: SHA256.hash(data: bytes), padding: .PSS)
        case .unsupported: false
        }
    }
}
