import Crypto
import Foundation
import RunwayJSON
import RunwaySignatures

/// The secret by which a client proves that the records of an installation are its own: the installation is computed
/// from it.
enum InstallationSecret {
    /// The most bytes of a body with a secret.
    static let maximumBodyByteCount = 1024

    /// The installation whose secret a body has: the start of the SHA-256 of its 32 bytes, with version and variant of
    /// a UUID of version 8 in place of six bits (RFC 9562 §5.8).
    ///
    /// - Parameter body: JSON with the secret in Base64 as its member `secret`.
    /// - Returns: `nil` if the body is malformed.
    static func installation(of body: [UInt8]) -> UUID? {
        guard let text = (try? JSONDocument(body))?.root["secret"].string, let secret = Base64.decoded(text),
            secret.count == 32
        else { return nil }
        var digest = Array(SHA256.hash(data: secret))
        digest[6] = digest[6] & 0x0F | 0x80
        digest[8] = digest[8] & 0x3F | 0x80
        return digest.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
