/// The kind of a ``JSONValue``, by RFC 8259 §3, or that there is no value.
public enum JSONKind: String, Sendable, Hashable, CaseIterable {
    /// There is no value at the path. It differs from ``null``, which is a value of the document.
    case missing
    /// The literal `null`.
    case null
    /// The literal `true` or `false`.
    case boolean
    /// A number, whether written as an integer or not; ``JSONValue/isInteger`` distinguishes these.
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
