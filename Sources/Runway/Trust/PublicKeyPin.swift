import Foundation

/// Identifies a public key by the SHA-256 digest of its `SubjectPublicKeyInfo` in DER (RFC 7469 §2.4).
public struct PublicKeyPin: Sendable, Hashable, CustomStringConvertible {
    /// The 32 bytes of the SHA-256 digest.
    public let sha256: [UInt8]

    /// Parses a pin: 32 bytes in base64, optionally preceded by `sha256/` or `sha256//`.
    ///
    /// - Throws: `NetworkError.Kind.invalidConfiguration` if the text is not such a pin.
    public init(_ text: String) throws(NetworkError) {
        var digits = text[...]
        if digits.hasPrefix("sha256/") { digits = digits.dropFirst(7) }
        if digits.hasPrefix("/"), digits.count == 45 { digits = digits.dropFirst() }
        guard let bytes = Data(base64Encoded: String(digits)), bytes.count == 32 else {
            throw NetworkError(
                .invalidConfiguration, in: .transporting,
                "\"\(text)\" is not a pin: it needs the 32 bytes of a SHA-256 in base64, such as \"sha256/…=\".")
        }
        sha256 = Array(bytes)
    }

    /// Creates the pin of a certificate's key.
    ///
    /// - Parameter certificatePEM: The certificate as PEM text; the first one if there are several (RFC 7468 §5).
    /// - Throws: `NetworkError.Kind.invalidConfiguration` if the text is not a certificate.
    public init(certificatePEM: String) throws(NetworkError) {
        let body = certificatePEM.firstRange(of: "-----BEGIN CERTIFICATE-----").map { start in
            let rest = certificatePEM[start.upperBound...]
            return rest[..<(rest.firstRange(of: "-----END CERTIFICATE-----")?.lowerBound ?? rest.startIndex)]
        }
        guard let body, let der = Data(base64Encoded: String(body.filter { !$0.isWhitespace })),
            let pin = PublicKeyPin(certificateDER: Array(der))
        else {
            throw NetworkError(
                .invalidConfiguration, in: .transporting, "The certificate to be pinned can't be read as PEM.")
        }
        self = pin
    }

    /// Creates the pin of a certificate's key. Returns `nil` if the bytes are not a certificate in DER (RFC 5280 §4.1).
    package init?(certificateDER: [UInt8]) {
        guard let key = CertificateKey(certificateDER: certificateDER) else { return nil }
        self.init(spki: Array(key.spki))
    }

    /// Creates the pin of a key from its `SubjectPublicKeyInfo` in DER.
    package init(spki: [UInt8]) {
        var hash = SHA256Hash()
        hash.update(spki)
        sha256 = hash.digest
    }

    /// The pin as text with the prefix `sha256/`.
    public var description: String { "sha256/\(Data(sha256).base64EncodedString())" }
}
