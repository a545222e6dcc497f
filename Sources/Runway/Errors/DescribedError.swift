import RunwayJSON

/// An error of this package whose description is written for records: it contains nothing that was sent, received or
/// stored, except names that a record shows anyway.
package protocol DescribedError: Error, CustomStringConvertible {}

extension Error {
    /// The description of the error that a record, a log or a response may show.
    ///
    /// This is the description if the error is one of this package's; the expected type and the position of an error of
    /// JSON or `Codable`; and otherwise the name of the error's type and, of an enum, of its case. The text of any
    /// other error may contain anything, such as the header fields of a request.
    package var redactedDescription: String {
        switch self {
        case let error as any DescribedError: error.description
        case let error as JSONError: error.withoutExcerpts.description
        case let error as DecodingError: error.mismatch
        case let error as EncodingError: error.mismatch
        default: "\(type(of: self))" + (caseName.map { ".\($0)" } ?? "")
        }
    }

    /// The name of an enum's case; `nil` if the error is no enum, or describes or reflects itself, so that only its own
    /// text could be read.
    private var caseName: String? {
        // By the type: a value may be bridged to a class that describes itself.
        let type = type(of: self)
        guard
            !(type is any CustomStringConvertible.Type || type is any CustomDebugStringConvertible.Type
                || type is any TextOutputStreamable.Type || type is any CustomReflectable.Type)
        else { return nil }
        let mirror = Mirror(reflecting: self)
        // Without an associated value the text of an enum's case is its name; with one, its only child has that name.
        return mirror.displayStyle == .enum ? mirror.children.first?.label ?? "\(self)" : nil
    }
}

extension String {
    /// The sentence with one mark at its end, if it ends in a text that has one of its own: a server's sentence, or
    /// another error's.
    package var withOneFullStop: String {
        guard hasSuffix("."), !hasSuffix("..."), let before = dropLast().last, ".!?…。！？".contains(before) else {
            return self
        }
        return String(dropLast())
    }
}

extension JSONError {
    /// The error without the excerpts of the document: only the expectation and its position stay. An excerpt may be
    /// secret in a document whose secrets have unusual names.
    fileprivate var withoutExcerpts: JSONError {
        var error = self
        error.found = nil
        error.bodyStart = nil
        return error
    }
}

extension DecodingError {
    /// States the expected type and the coding path. The error's own description may quote the value.
    fileprivate var mismatch: String {
        switch self {
        case .typeMismatch(let type, let context): "\(context.place) is not of the type \(type)."
        case .valueNotFound(let type, let context): "\(context.place) is missing; its type is \(type)."
        case .keyNotFound(let key, let context): "\((context.codingPath + [key]).place) is missing."
        case .dataCorrupted(let context):
            (context.underlyingError as? JSONError)?.withoutExcerpts.description ?? "\(context.place) is invalid."
        @unknown default: "The value can't be decoded."
        }
    }
}

extension DecodingError.Context {
    fileprivate var place: String { codingPath.place }
}

extension EncodingError {
    /// States the type that can't be encoded, and the coding path. The error's own description may quote the value.
    fileprivate var mismatch: String {
        switch self {
        case .invalidValue(let value, let context):
            "\(context.codingPath.place) of the type \(type(of: value)) can't be encoded."
        @unknown default: "The value can't be encoded."
        }
    }
}

extension [any CodingKey] {
    /// Names the value at the path, as the subject of a sentence.
    fileprivate var place: String {
        let path = map(\.stringValue).joined(separator: ".")
        return path.isEmpty ? "The value" : "The value \"\(JSONError.shortened(path))\""
    }
}
