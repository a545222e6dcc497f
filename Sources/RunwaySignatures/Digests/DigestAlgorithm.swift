public import HTTPTypes
import RawStructuredFieldValues

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

extension HTTPFields {
    /// Returns the known algorithms in `Want-Content-Digest` or `Want-Repr-Digest`, most preferred first (RFC 9530 §4).
    ///
    /// Returns an empty array if the field is absent or accepts no known algorithm; a sender may then send any digest
    /// or none. Throws a ``SignatureError`` if the field is malformed.
    public func wantedDigests(_ name: HTTPField.Name) throws(SignatureError) -> [DigestAlgorithm] {
        var preferences: [(algorithm: DigestAlgorithm, preference: Int64)] = []
        for (key, member) in try StructuredFieldParsing().dictionary(self[values: name], named: name.canonicalName) {
            guard case .item(let item) = member, case .integer(let preference) = item.rfc9651BareItem,
                (0...10).contains(preference)
            else { throw SignatureError(.notStructured, name.canonicalName) }
            if preference > 0, let algorithm = DigestAlgorithm.named(key) {
                preferences.append((algorithm, preference))
            }
        }
        return preferences.sorted { $0.preference > $1.preference }.map(\.algorithm)
    }
}
