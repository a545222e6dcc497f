#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Decodes `Decodable` types from a ``JSONDocument``, a ``JSONValue`` or bytes, as Foundation's `JSONDecoder` does.
///
/// It has the strategies of `JSONDecoder` and throws the same cases of `DecodingError` with the same coding paths. The
/// differences are:
///
/// - A lone surrogate is read as U+FFFD; `JSONDecoder` throws an error.
/// - A comma before a closing bracket is an error.
/// - Documents in UTF-16 or UTF-32 are refused.
/// - A number is read as an integer only if its exact value is an integer: decoding `1.0000000000000000001` as an `Int`
///   throws an error, while `JSONDecoder` returns 1.
/// - A number too small for a normal `Double`, such as `1e-310`, is read as the nearest double; `JSONDecoder` throws an
///   error.
/// - Coding keys and names are compared by their Unicode scalars, never by canonical equivalence.
/// - The errors for dates, and for numbers that the type cannot represent, have the full coding path. `JSONDecoder`
///   omits it.
///
/// Use it for models. To display rows, read the ``JSONValue``s directly: then only the displayed values are created.
public struct JSONDocumentDecoder: Sendable {
    /// The strategy that decodes `Date` values.
    public enum DateDecodingStrategy: Sendable {
        /// `Date` decodes itself from the seconds since 1 January 2001. The default.
        case deferredToDate
        /// A number of seconds since 1 January 1970.
        case secondsSince1970
        /// A number of milliseconds since 1 January 1970.
        case millisecondsSince1970
        /// A string such as `2026-11-21T11:20:00Z` (RFC 3339, without fractions of a second).
        case iso8601
        /// A function parses a string and returns `nil` if it is invalid: `.formatted { formatter.date(from: $0) }`.
        case formatted(@Sendable (String) -> Date?)
        /// A function decodes the date.
        case custom(@Sendable (_ decoder: any Decoder) throws -> Date)
    }

    /// The strategy that converts member names to coding keys. By default, names are used unchanged.
    ///
    /// `convertFromSnakeCase` converts `first_name` to `firstName`, and `has_3d_tour` to `has3DTour`: every word is
    /// capitalized, and a new word begins after a digit. Underscores at the beginning and end stay.
    public var keyDecodingStrategy = JSONDecoder.KeyDecodingStrategy.useDefaultKeys
    /// The strategy that decodes `Date` values. By default, `Date` decodes itself.
    public var dateDecodingStrategy = DateDecodingStrategy.deferredToDate
    /// The strategy that decodes `Data` values. The default is base64.
    public var dataDecodingStrategy = JSONDecoder.DataDecodingStrategy.base64
    /// The strategy for infinities and NaN. By default, decoding throws an error.
    public var nonConformingFloatDecodingStrategy = JSONDecoder.NonConformingFloatDecodingStrategy.throw
    /// Values that types read from `Decoder.userInfo` in their `init(from:)`. The default is empty.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    /// The limits for documents passed as bytes. The default is ``JSONLimits/default``.
    public var limits = JSONLimits.default

    /// Creates a decoder with the default strategies.
    public init() {}

    /// Decodes a type from a document's root value.
    ///
    /// - Throws: `DecodingError`, or the error that the type's `init(from:)` throws.
    public func decode<T: Decodable>(_ type: T.Type, from document: JSONDocument) throws -> T {
        try decode(type, from: document.root)
    }

    /// Decodes a type from a value. The coding paths of errors begin at the value.
    ///
    /// - Throws: `DecodingError`, or the error that the type's `init(from:)` throws.
    public func decode<T: Decodable>(_ type: T.Type, from value: JSONValue) throws -> T {
        if let error = value.invalidDocumentError { throw Self.corrupted(error) }
        let decoder = ValueDecoder(
            context: DecodingContext(storage: value.storage, strategies: self),
            index: value.exists ? value.index : -1, parent: nil, key: nil)
        return try decoder.unwrap(type)
    }

    /// Parses a document and decodes a type from its root value.
    ///
    /// - Throws: `DecodingError`, or the error that the type's `init(from:)` throws. If the bytes are not JSON, the
    ///   error is `dataCorrupted` with a ``JSONError`` as its underlying error.
    public func decode<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws -> T {
        let document: JSONDocument
        do throws(JSONError) {
            document = try JSONDocument(bytes, limits: limits)
        } catch {
            throw Self.corrupted(error)
        }
        return try decode(type, from: document)
    }

    /// Parses a document and decodes a type from its root value.
    ///
    /// - Throws: `DecodingError`, or the error that the type's `init(from:)` throws. If the bytes are not JSON, the
    ///   error is `dataCorrupted` with a ``JSONError`` as its underlying error.
    public func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T {
        try decode(type, from: Array(data))
    }

    private static func corrupted(_ error: JSONError) -> DecodingError {
        .dataCorrupted(
            DecodingError.Context(
                codingPath: [], debugDescription: "The given data was not valid JSON.", underlyingError: error))
    }
}
