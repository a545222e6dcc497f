import Crypto
import Foundation
package import RunwayTUF

/// A private key of a role, with which a repository signs: Ed25519, whose signatures are the same for the same bytes.
package struct RoleKey: Sendable {
    private let key: Curve25519.Signing.PrivateKey

    /// Makes a new key.
    init() { key = Curve25519.Signing.PrivateKey() }

    /// The key as metadata lists it.
    package var listed: MetadataKey { MetadataKey(key.publicKey) }

    /// Returns the signature of bytes in the form of metadata.
    package func signature(of bytes: [UInt8]) throws -> SignedDocument.Signature {
        SignedDocument.Signature(keyID: listed.id, bytes: Array(try key.signature(for: bytes)))
    }

    /// The content of the key's file: the listed key with its private half.
    var fileBytes: [UInt8] {
        var object = listed.object
        object["private"] = .string(Hexadecimal.text(key.rawRepresentation))
        return CanonicalValue.object(object).canonicalBytes
    }

    /// Reads a key's file. Returns `nil` for any other file.
    init?(fileBytes: [UInt8]) {
        guard case .object(let object)? = try? CanonicalValue(reading: fileBytes, maximumByteCount: 10_000),
            case .string("ed25519")? = object["scheme"], case .string(let text)? = object["private"],
            let bytes = Hexadecimal.bytes(text),
            let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: bytes)
        else { return nil }
        self.key = key
    }
}
