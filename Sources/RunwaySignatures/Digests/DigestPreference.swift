public import HTTPTypes
import RawStructuredFieldValues

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
