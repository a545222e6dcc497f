/// A digest algorithm of RFC 9530 that is not deprecated (RFC 9530 §7.2).
public struct DigestAlgorithm: Sendable, Hashable, CustomStringConvertible {
    /// The name registered for digest fields.
    public let name: String
    /// The length of a digest in bytes.
    let length: Int

    /// SHA-256, with the name `sha-256`.
    public static let sha256 = DigestAlgorithm(name: "sha-256", length: 32)
    /// SHA-512, with the name `sha-512`.
    public static let sha512 = DigestAlgorithm(name: "sha-512", length: 64)

    /// All supported algorithms.
    public static let all: [DigestAlgorithm] = [.sha256, .sha512]

    static func named(_ name: String) -> DigestAlgorithm? { all.first { $0.name == name } }

    /// The name registered for digest fields.
    public var description: String { name }
}
