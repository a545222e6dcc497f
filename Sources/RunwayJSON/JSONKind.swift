/// The kind of a ``JSONValue`` (RFC 8259 §3), including a value that is missing.
public enum JSONKind: String, Sendable, Hashable, CaseIterable {
    /// The document has no value at the path. ``null`` differs: it is a value in the document.
    case missing
    /// The literal `null`.
    case null
    /// The literal `true` or `false`.
    case boolean
    /// A number. ``JSONValue/isInteger`` is `true` if it is written as an integer.
    case number
    /// A string in quotation marks.
    case string
    /// An array of elements in brackets.
    case array
    /// An object of members in braces.
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
