/// What a ``JSONValue`` is, by RFC 8259 §3, or that nothing is there.
public enum JSONKind: String, Sendable, Hashable, CaseIterable {
    /// Nothing is at the path that was asked for. Not the same as ``null``, which the document says itself.
    case missing
    /// The literal `null`.
    case null
    /// The literal `true` or `false`.
    case boolean
    /// A number, whether written as an integer or not; ``JSONValue/isInteger`` tells these apart.
    case number
    /// A string.
    case string
    /// An array.
    case array
    /// An object.
    case object

    /// The kind with its article, for sentences such as "expected an array".
    var withArticle: String {
        switch self {
        case .missing: "nothing"
        case .null: "null"
        case .boolean: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
