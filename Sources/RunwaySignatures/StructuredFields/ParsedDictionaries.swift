import RawStructuredFieldValues

/// The members of Dictionary fields. Each field is parsed once, even if a signature covers many of its members, and
/// members are found by hashing.
struct ParsedDictionaries {
    struct Field: Hashable {
        let name: String
        let isFromRequest: Bool
        let isTrailer: Bool
    }

    private var members: [Field: [String: ItemOrInnerList]] = [:]

    /// Returns a member of a field, or `nil` if the field does not have it. Throws the errors of `parse`.
    ///
    /// - Parameter parse: Parses the field. Called once for each field.
    mutating func member(
        _ key: String, of field: Field,
        parse: () throws(SignatureError) -> OrderedMap<String, ItemOrInnerList>
    ) throws(SignatureError) -> ItemOrInnerList? {
        if let parsed = members[field] { return parsed[key] }
        let parsed = Dictionary(uniqueKeysWithValues: try parse().lazy.map { ($0.0, $0.1) })
        members[field] = parsed
        return parsed[key]
    }
}
