#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Decodes `Decodable` types from a ``JSONDocument``, a ``JSONValue`` or bytes, as Foundation's `JSONDecoder` does.
///
/// It has the strategies and errors of `JSONDecoder`: the same cases of `DecodingError` with the same coding paths. It
/// differs as follows:
/// - A lone surrogate is read as U+FFFD instead of failing, and a comma before a closing bracket is refused.
/// - Documents in UTF-16 or UTF-32 are refused.
/// - A number is an integer only if it is exactly one: `1.0000000000000000001` as an `Int` is an error, there it is 1.
/// - Doubles too small for a normal number, such as `1e-310`, are read as the nearest one; there they are refused.
/// - Coding keys are compared with names by their Unicode scalars, never by equivalence.
/// - Errors of numbers that do not fit and of dates have their full path, which `JSONDecoder` leaves out.
///
/// Use it for models. To show rows, read the values themselves: that creates only the values that are shown.
public struct JSONDocumentDecoder: Sendable {
    /// A rule that converts the names of members to coding keys.
    public enum KeyDecodingStrategy: Sendable {
        /// Names are used unchanged. The default.
        case useDefaultKeys
        /// `first_name` becomes `firstName`, and `has_3d_tour` becomes `has3DTour`: every word is capitalized, which
        /// begins anew behind a digit. Underscores at the beginning and end stay.
        case convertFromSnakeCase
        /// A function converts the path up to the name and the name itself, which is the last key.
        case custom(@Sendable (_ codingPath: [any CodingKey]) -> any CodingKey)
    }

    /// The format of dates.
    public enum DateDecodingStrategy: Sendable {
        /// `Date` decodes itself: seconds since the first of January 2001. The default.
        case deferredToDate
        /// A number of seconds since the first of January 1970.
        case secondsSince1970
        /// A number of milliseconds since the first of January 1970.
        case millisecondsSince1970
        /// A string such as `2026-11-21T11:20:00Z` (RFC 3339, without fractions of a second).
        case iso8601
        /// A string that a function reads, nil meaning that it can't: `.formatted { formatter.date(from: $0) }`.
        case formatted(@Sendable (String) -> Date?)
        /// A function decodes the date.
        case custom(@Sendable (_ decoder: any Decoder) throws -> Date)
    }

    /// The format of `Data`.
    public enum DataDecodingStrategy: Sendable {
        /// `Data` decodes itself: an array of numbers.
        case deferredToData
        /// A string in base64 (RFC 4648 §4). The default.
        case base64
        /// A function decodes the data.
        case custom(@Sendable (_ decoder: any Decoder) throws -> Data)
    }

    /// The format of infinite and undefined numbers, which JSON cannot represent.
    public enum NonConformingFloatDecodingStrategy: Sendable {
        /// Decoding throws an error. The default.
        case `throw`
        /// These strings stand for the numbers.
        case convertFromString(positiveInfinity: String, negativeInfinity: String, nan: String)
    }

    /// The rule that converts the names of members to coding keys. By default names are used unchanged.
    public var keyDecodingStrategy = KeyDecodingStrategy.useDefaultKeys
    /// The format of dates. By default `Date` decodes itself.
    public var dateDecodingStrategy = DateDecodingStrategy.deferredToDate
    /// The format of `Data`. The default is base64.
    public var dataDecodingStrategy = DataDecodingStrategy.base64
    /// The format of infinite and undefined numbers. By default none is accepted.
    public var nonConformingFloatDecodingStrategy = NonConformingFloatDecodingStrategy.throw
    /// Passed to the types that decode themselves. The default is empty.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    /// The bounds for documents passed as bytes. The default is ``JSONLimits/default``.
    public var limits = JSONLimits.default

    /// Decodes with the default strategies, until they are set.
    public init() {}

    /// Decodes a type from a document's root.
    ///
    /// - Throws: `DecodingError`, or the errors of the type itself.
    public func decode<T: Decodable>(_ type: T.Type, from document: JSONDocument) throws -> T {
        try decode(type, from: document.root)
    }

    /// Decodes a type from a value; coding paths begin at that value.
    ///
    /// - Throws: `DecodingError`, or the errors of the type itself.
    public func decode<T: Decodable>(_ type: T.Type, from value: JSONValue) throws -> T {
        if let error = value.invalidDocumentError { throw Self.corrupted(error) }
        let decoder = ValueDecoder(
            context: DecodingContext(storage: value.storage, strategies: self),
            index: value.exists ? value.index : -1, parent: nil, key: nil)
        return try decoder.unwrap(type)
    }

    /// Decodes a type from the bytes of a document.
    ///
    /// - Throws: `DecodingError`, where `dataCorrupted` has a ``JSONError`` as its cause if the bytes are not JSON; or
    ///   the errors of the type itself.
    public func decode<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws -> T {
        let document: JSONDocument
        do throws(JSONError) {
            document = try JSONDocument(bytes, limits: limits)
        } catch {
            throw Self.corrupted(error)
        }
        return try decode(type, from: document)
    }

    /// Decodes a type from the bytes of a document.
    ///
    /// - Throws: `DecodingError`, where `dataCorrupted` has a ``JSONError`` as its cause if the bytes are not JSON; or
    ///   the errors of the type itself.
    public func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T {
        try decode(type, from: Array(data))
    }

    private static func corrupted(_ error: JSONError) -> DecodingError {
        .dataCorrupted(
            DecodingError.Context(
                codingPath: [], debugDescription: "The given data was not valid JSON.", underlyingError: error))
    }
}
