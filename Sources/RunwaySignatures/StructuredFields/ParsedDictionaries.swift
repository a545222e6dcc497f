import RawStructuredFieldValues

/// The members of fields that are Dictionaries. Each field is parsed once, however many of its members a signature
/// covers, and its members are found by hashing.
struct ParsedDictionaries {
    /// A field in one section of one message.
    struct Field: Hashable {
        let name: String
        let isFromRequest: Bool
        let isTrailer: Bool
    }

    private var members: [Field: [String: ItemOrInnerList]] = [:]

    /// Returns a member of a field; `nil` if the field does not have it. Throws the errors of `parse`.
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
