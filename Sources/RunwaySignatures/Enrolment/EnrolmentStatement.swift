import Crypto
import Foundation

/// The statement that a device signs with its new key to enrol the key. It proves that the device has the key, and is
/// valid for one account, device, server and challenge.
///
/// A device that replaces a key also signs the statement with the replaced key. An attestation of the device covers the
/// statement, so it cannot be used for another key. `docs/formats.md` defines the bytes.
public struct EnrolmentStatement: Sendable, Hashable {
    /// The public authority of the server, in lower case and without the default port.
    public let authority: String
    /// The account for which the key is enrolled, under the name that the server uses.
    public let account: String
    /// The identifier of the device, which the app chooses.
    public let device: String
    /// The server's challenge, which can be used only once.
    public let challenge: String
    /// The identifier of the key that the new key replaces; `nil` for a device's first key.
    public let replacedKeyID: String?
    /// The public key: an uncompressed P-256 point of 65 bytes (ANSI X9.63).
    public let publicKey: [UInt8]

    /// The maximum length of account, device, challenge and replaced key identifier, in bytes: 256.
    public static let maximumTextBytes = 256

    /// Creates a statement. Throws a ``SignatureError`` if a text is empty, has control characters or more than
    /// ``maximumTextBytes``, or if `publicKey` is not a P-256 key.
    public init(
        authority: String, account: String, device: String, challenge: String, replacing replacedKeyID: String? = nil,
        publicKey: [UInt8]
    ) throws(SignatureError) {
        let texts = [
            ("the authority", authority), ("the account", account), ("the device", device),
            ("the challenge", challenge), ("the replaced key", replacedKeyID ?? "none"),
        ]
        for (name, text) in texts {
            // If a text could contain line feeds, one statement could be parsed as another.
            guard (1...Self.maximumTextBytes).contains(text.utf8.count),
                text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
            else { throw SignatureError(.invalidValue, name) }
        }
        guard publicKey.count == 65, (try? P256.Signing.PublicKey(x963Representation: publicKey)) != nil else {
            throw SignatureError(.invalidKey, "the public key")
        }
        (self.authority, self.account, self.device) = (authority, account, device)
        (self.challenge, self.replacedKeyID, self.publicKey) = (challenge, replacedKeyID, publicKey)
    }

    /// The bytes to sign: seven lines joined by line feeds.
    public var bytes: [UInt8] {
        let lines = [
            "runway-enrolment-1", authority, account, device, challenge, replacedKeyID ?? "",
            Base64.encodedForURL(publicKey),
        ]
        return Array(lines.joined(separator: "\n").utf8)
    }

    /// The identifier of the key: its thumbprint (RFC 7638). Nobody can choose it, since it is computed from the key.
    public var keyID: String { PublicKeyJWK(point: publicKey).thumbprint }

    /// The public key, as a key that verifies signatures.
    public var key: VerificationKey {
        guard let key = try? P256.Signing.PublicKey(x963Representation: publicKey) else {
            preconditionFailure("A statement has a key of P-256")
        }
        return .p256(key)
    }
}

/// Evidence from a device's platform that an unchanged app on a genuine device made a statement.
public struct DeviceEvidence: Sendable, Hashable {
    /// The format of the evidence: ``appAttest``, ``appAttestAssertion``, or a custom format.
    public let format: String
    /// The bytes of the evidence.
    public let data: [UInt8]

    /// The format of an attestation by Apple's App Attest, which introduces a key of the App Attest service.
    public static let appAttest = "apple-appattest"
    /// The format of an assertion by a previously attested key.
    public static let appAttestAssertion = "apple-appattest-assertion"

    /// Creates evidence in a format.
    public init(format: String, data: [UInt8]) { (self.format, self.data) = (format, data) }
}
