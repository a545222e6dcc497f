/// An algorithm of the digest fields that RFC 9530 does not deprecate (RFC 9530 §7.2).
public struct DigestAlgorithm: Sendable, Hashable, CustomStringConvertible {
    /// The registered key.
    public let name: String
    /// The length of a digest in bytes.
    let length: Int

    /// SHA-256.
    public static let sha256 = DigestAlgorithm(name: "sha-256", length: 32)
    /// SHA-512.
    public static let sha512 = DigestAlgorithm(name: "sha-512", length: 64)

    /// All algorithms that can be used.
    public static let all: [DigestAlgorithm] = [.sha256, .sha512]

    static func named(_ name: String) -> DigestAlgorithm? { all.first { $0.name == name } }

    /// The registered key.
    public var description: String { name }
}
