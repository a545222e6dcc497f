/// An error in a document, or a value that is not of the required kind.
///
/// ``description`` is one sentence that a person can act on. The texts never contain the value of a member whose name
/// is secret by ``JSONRedaction/default``.
public struct JSONError: Error, Sendable, Hashable {
    /// The kind of the error.
    public enum Kind: String, Sendable, Hashable {
        /// The bytes are not JSON by the grammar of RFC 8259.
        case syntax
        /// A string's bytes are not well-formed UTF-8 (Unicode, table 3-7), or the document is in UTF-16 or UTF-32.
        case invalidUTF8
        /// The document exceeds a limit of ``JSONLimits``.
        case limitExceeded
        /// The document has no value at the required path.
        case missing
        /// The value is not of the required kind.
        case typeMismatch
        /// The value is a number that the required type cannot hold.
        case outOfRange
        /// A value could not be written as JSON, such as an infinity or NaN.
        case unwritable
        /// A string whose content is invalid, such as a malformed date or malformed base64.
        case invalidText
    }

    /// The kind of the error.
    public var kind: Kind
    /// The path of the value, in the format of ``JSONValue/path``; `nil` if the document could not be read.
    public var path: String?
    /// The offset of the first byte concerned, counted from 0; `nil` if the error has no position.
    public var offset: Int?
    /// The line of ``offset``, counted from 1; lines end at a line feed. `nil` if the error has no position.
    public var line: Int?
    /// The column of ``offset``, counted in Unicode scalars from 1. `nil` if the error has no position.
    public var column: Int?
    /// The expected value or token, such as `a string` or `',' or ']'`; `nil` if not known.
    public var expected: String?
    /// The value or token that was found, with a short excerpt; `nil` if not known.
    public var found: String?
    /// The start of the document as text, at most about 200 bytes, with secrets redacted; `nil` if not known.
    public var bodyStart: String?

    /// Creates an error. All parameters but the kind are optional.
    public init(
        kind: Kind,
        path: String? = nil,
        offset: Int? = nil,
        line: Int? = nil,
        column: Int? = nil,
        expected: String? = nil,
        found: String? = nil,
        bodyStart: String? = nil
    ) {
        self.kind = kind
        self.path = path
        self.offset = offset
        self.line = line
        self.column = column
        self.expected = expected
        self.found = found
        self.bodyStart = bodyStart
    }

    /// The number of bytes of the document that are passed on to ``bodyStart``.
    static let bodyStartByteCount = 200
    /// The maximum number of bytes of a value that ``found`` shows.
    static let excerptByteCount = 60
}

extension JSONError: CustomStringConvertible {
    /// The error in one sentence: position, expected and found value, and the start of the body.
    public var description: String {
        var text = headline
        if let path { text += " at \(Self.shortened(path))" }
        if let line, let column, let offset { text += " (line \(line), column \(column), byte \(offset))" }
        switch (expected, found) {
        case (let expected?, let found?): text += ": expected \(expected), found \(found)"
        case (let expected?, nil): text += ": expected \(expected)"
        case (nil, let found?): text += ": \(found)"
        case (nil, nil): break
        }
        if let bodyStart, !bodyStart.isEmpty { text += "; the body starts with: \(bodyStart)" }
        return text
    }

    /// Returns a path or name truncated to 200 Unicode scalars, for use in a sentence.
    package static func shortened(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: 200, limitedBy: scalars.endIndex) else {
            return text
        }
        return end == scalars.endIndex ? text : String(scalars[..<end]) + "…"
    }

    private var headline: String {
        switch kind {
        case .syntax: "The body is not JSON"
        case .invalidUTF8: "The body is not well-formed UTF-8"
        case .limitExceeded: "The JSON exceeds the limits"
        case .missing: "A required value is missing"
        case .typeMismatch: "A value is of the wrong kind"
        case .outOfRange: "A number does not fit"
        case .unwritable: "A value cannot be written as JSON"
        case .invalidText: "A string does not have the required content"
        }
    }
}
