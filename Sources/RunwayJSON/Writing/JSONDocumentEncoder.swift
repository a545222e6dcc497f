#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Encodes `Encodable` types as JSON whose bytes depend only on the value and the strategies, in every process.
///
/// It has the strategies of Foundation's `JSONEncoder`. The text is written by ``JSONWriter``: compact, with `/` not
/// escaped, and members in the order in which the type encodes them or sorted by name.
///
/// A `Dictionary` or `Set` has no order, so that it is always sorted: members by the bytes of their names, elements by
/// their encoded bytes, keys and values in one array in pairs. A type that passes its own encoder to a dictionary or
/// set, or encodes in an order that changes, has to sort by itself; ``sortsKeys`` sorts members in any case.
public struct JSONDocumentEncoder: Sendable {
    /// A rule that converts coding keys to the names of members.
    public enum KeyEncodingStrategy: Sendable {
        /// Keys are used unchanged. The default.
        case useDefaultKeys
        /// `firstName` becomes `first_name`, `myURLProperty` becomes `my_url_property`.
        case convertToSnakeCase
        /// A function converts the path up to the key and the key itself, which is the last one.
        case custom(@Sendable (_ codingPath: [any CodingKey]) -> any CodingKey)
    }

    /// The format of dates.
    public enum DateEncodingStrategy: Sendable {
        /// `Date` encodes itself: seconds since the first of January 2001. The default.
        case deferredToDate
        /// A number of seconds since the first of January 1970.
        case secondsSince1970
        /// A number of milliseconds since the first of January 1970.
        case millisecondsSince1970
        /// A string such as `2026-11-21T11:20:00Z` (RFC 3339, without fractions of a second).
        case iso8601
        /// A string that a function makes: `.formatted { formatter.string(from: $0) }`.
        case formatted(@Sendable (Date) -> String)
        /// A function encodes the date.
        case custom(@Sendable (_ date: Date, _ encoder: any Encoder) throws -> Void)
    }

    /// The format of `Data`.
    public enum DataEncodingStrategy: Sendable {
        /// `Data` encodes itself: an array of numbers.
        case deferredToData
        /// A string in base64 (RFC 4648 §4). The default.
        case base64
        /// A function encodes the data.
        case custom(@Sendable (_ data: Data, _ encoder: any Encoder) throws -> Void)
    }

    /// The format of infinite and undefined numbers, which JSON cannot represent.
    public enum NonConformingFloatEncodingStrategy: Sendable {
        /// Encoding throws an error. The default.
        case `throw`
        /// These strings stand for the numbers.
        case convertToString(positiveInfinity: String, negativeInfinity: String, nan: String)
    }

    /// The rule that converts coding keys to the names of members. By default keys are used unchanged.
    public var keyEncodingStrategy = KeyEncodingStrategy.useDefaultKeys
    /// The format of dates. By default `Date` encodes itself.
    public var dateEncodingStrategy = DateEncodingStrategy.deferredToDate
    /// The format of `Data`. The default is base64.
    public var dataEncodingStrategy = DataEncodingStrategy.base64
    /// The format of infinite and undefined numbers. By default none is accepted.
    public var nonConformingFloatEncodingStrategy = NonConformingFloatEncodingStrategy.throw
    /// Whether members are sorted by the UTF-8 bytes of their names. Default false.
    public var sortsKeys = false
    /// Passed to the types that encode themselves. The default is empty.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Encodes with the default strategies, until they are set.
    public init() {}

    /// Encodes a value as the bytes of a document.
    ///
    /// - Throws: `EncodingError` if the value encodes nothing or a number that JSON cannot represent; the errors of the
    ///   type.
    public func encode<T: Encodable>(_ value: T) throws -> [UInt8] {
        let encoder = NodeEncoder(node: EncodedNode(), strategies: self, path: nil)
        try encoder.encode(value)
        guard encoder.node.isSet else {
            throw EncodingError.invalidValue(
                value,
                EncodingError.Context(
                    codingPath: [], debugDescription: "Top-level \(T.self) did not encode any values."))
        }
        var writer = JSONWriter(sortsKeys: sortsKeys)
        encoder.node.write(to: &writer)
        return writer.bytes
    }
}
