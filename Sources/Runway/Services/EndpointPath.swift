/// The path of an endpoint, relative to its service's base URL. Interpolated values are escaped.
///
/// ```swift
/// var path: EndpointPath { "rental/\(id)/photos" }
/// ```
///
/// Every interpolated value becomes part of one segment: `/` and all other characters except the unreserved ones of RFC
/// 3986 §2.3 are percent-encoded. In the literal parts `/` separates segments, and only characters that are not allowed
/// in a path are encoded. A leading slash has no effect: the path is always relative to the base URL.
///
/// A call fails as ``NetworkError/Kind/invalidParameters`` if a value is empty or a segment is `.` or `..`, because the
/// path would address another resource. It also fails if a literal part contains `?` or `#`, which would start a query
/// or a fragment. The query consists of the endpoint's parameters.
public struct EndpointPath: Sendable, Equatable, ExpressibleByStringInterpolation {
    /// The percent-encoded path as it is sent, without a leading slash.
    public let percentEncoded: String
    /// The reason why the path is invalid; `nil` if it is valid.
    let problem: String?

    /// Creates a path from literal text.
    public init(stringLiteral value: String) {
        if value.utf8.first != UInt8(ascii: "/"), value.consists(of: PercentEncoding.plainPath) {
            // Most paths contain only characters that need neither an escape nor a check.
            self.init(plain: value)
        } else {
            self.init(
                value.percentEncoded(allowing: PercentEncoding.path), hasEmptyValue: false, end: value.firstDelimiter)
        }
    }

    private init(plain text: String) {
        percentEncoded = text
        problem = nil
    }

    /// Creates a path from literal text with interpolated values, which are escaped.
    public init(stringInterpolation: StringInterpolation) {
        self.init(
            stringInterpolation.text, hasEmptyValue: stringInterpolation.hasEmptyValue, end: stringInterpolation.end)
    }

    /// - Parameter end: A delimiter in a literal part that would end the path; `nil` if there is none.
    private init(_ text: String, hasEmptyValue: Bool, end: Character?) {
        let path = text.utf8.first == UInt8(ascii: "/") ? String(text.drop { $0 == "/" }) : text
        percentEncoded = path
        problem =
            if hasEmptyValue {
                "A value in the path \"\(path)\" is empty."
            } else if end == "?" {
                "The path \"\(path)\" has a query; a query goes into the endpoint's parameters, which are its stored properties, or the second argument of get(_:_:)."
            } else if end != nil {
                "The path \"\(path)\" has a fragment, which is never sent; an interpolated value may contain the character #."
            } else if path.hasDotSegment {
                "The path \"\(path)\" has a segment that refers to another directory."
            } else {
                nil
            }
    }

    /// Collects the literal and interpolated parts of a path.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""
        fileprivate var hasEmptyValue = false
        fileprivate var end: Character?

        /// Creates an empty path.
        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + 16 * interpolationCount)
        }

        /// Appends literal text, which may contain several segments.
        public mutating func appendLiteral(_ literal: String) {
            end = end ?? literal.firstDelimiter
            text.appendPercentEncoded(literal, allowing: PercentEncoding.path)
        }

        /// Appends an escaped value within one segment.
        public mutating func appendInterpolation(_ value: some LosslessStringConvertible) {
            let description = String(value)
            if description.isEmpty { hasEmptyValue = true }
            text.appendPercentEncoded(description, allowing: PercentEncoding.unreserved)
        }
    }
}

extension String {
    /// The first character that would end a path (RFC 3986 §3.3); `nil` if the text has no such character.
    fileprivate var firstDelimiter: Character? {
        utf8.first { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }.map { Character(Unicode.Scalar($0)) }
    }

    /// Whether a segment of this path is a dot segment. Few paths contain dots or escaped dots, and only those are
    /// split.
    fileprivate var hasDotSegment: Bool {
        (utf8.withContiguousStorageIfAvailable { $0.contains(where: Self.mayBeInDotSegment) } ?? true)
            && split(separator: "/").contains(where: \.isDotSegment)
    }

    private static func mayBeInDotSegment(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ".") || byte == UInt8(ascii: "%")
    }
}

extension Substring {
    /// Whether a segment of a path is `.` or `..` (RFC 3986 §5.2.4), with plain or escaped dots.
    var isDotSegment: Bool {
        guard utf8.count <= 6, let first = utf8.first, first == UInt8(ascii: ".") || first == UInt8(ascii: "%") else {
            return false
        }
        let plain = lowercased().replacing("%2e", with: ".")
        return plain == "." || plain == ".."
    }
}
