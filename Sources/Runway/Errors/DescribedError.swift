import RunwayJSON

/// An error of this package whose description is safe for records. The description contains no data that was sent,
/// received or stored, except names that a record shows anyway.
package protocol DescribedError: Error, CustomStringConvertible {}

extension Error {
    /// The description of the error that a record, a log or a response may show.
    ///
    /// - For an error of this package: its description.
    /// - For an error of JSON or `Codable`: the expected type and the position.
    /// - For any other error: the name of its type and, if it is an enum, of its case. The error's own text may contain
    ///   anything, such as the header fields of a request.
    package var redactedDescription: String {
        switch self {
        case let error as any DescribedError: error.description
        case let error as JSONError: error.withoutExcerpts.description
        case let error as DecodingError: error.mismatch
        case let error as EncodingError: error.mismatch
        default: "\(type(of: self))" + (caseName.map { ".\($0)" } ?? "")
        }
    }

    /// The name of an enum's case. `nil` if the error is not an enum, or if it supplies its own description or mirror,
    /// so that the case name can't be read.
    private var caseName: String? {
        // The type is checked, not the value: a value may be bridged to a class that describes itself.
        let type = type(of: self)
        guard
            !(type is any CustomStringConvertible.Type || type is any CustomDebugStringConvertible.Type
                || type is any TextOutputStreamable.Type || type is any CustomReflectable.Type)
        else { return nil }
        let mirror = Mirror(reflecting: self)
        // The text of an enum case without an associated value is its name. A case with a value has a single child,
        // whose label is the name.
        return mirror.displayStyle == .enum ? mirror.children.first?.label ?? "\(self)" : nil
    }
}

extension String {
    /// The sentence with exactly one closing punctuation mark. If the text ends in a quotation from a server or another
    /// error, it may already have one.
    package var withOneFullStop: String {
        guard hasSuffix("."), !hasSuffix("..."), let before = dropLast().last, ".!?…。！？".contains(before) else {
            return self
        }
        return String(dropLast())
    }
}

extension JSONError {
    /// The error without excerpts of the document: only the expected type and its position remain. Excerpts may contain
    /// secrets with unusual names.
    fileprivate var withoutExcerpts: JSONError {
        var error = self
        error.found = nil
        error.bodyStart = nil
        return error
    }
}

extension DecodingError {
    /// States the expected type and the coding path. The error's own description may contain the value.
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
    /// States the type that can't be encoded, and the coding path. The error's own description may contain the value.
    fileprivate var mismatch: String {
        switch self {
        case .invalidValue(let value, let context):
            "\(context.codingPath.place) of the type \(type(of: value)) can't be encoded."
        @unknown default: "The value can't be encoded."
        }
    }
}

extension [any CodingKey] {
    /// A phrase for the value at the coding path, used as the subject of a sentence.
    fileprivate var place: String {
        let path = map(\.stringValue).joined(separator: ".")
        return path.isEmpty ? "The value" : "The value \"\(JSONError.shortened(path))\""
    }
}
