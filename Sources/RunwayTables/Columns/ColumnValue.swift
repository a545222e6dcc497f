public import Foundation
public import GRDB

/// A value that a column can hold.
///
/// Integers, floating-point numbers, text, `Data`, `Bool`, `Date`, `UUID` and `URL` conform. A raw-representable type
/// is stored as its raw value, and a `Codable` type as JSON. Such a type only has to declare the conformance:
///
/// ```swift
/// enum Priority: Int, ColumnValue { case low, high }
/// struct Address: Codable, ColumnValue { var street: String, city: String }
/// ```
///
/// A column that may be NULL has an optional type, `Column<Date?>`. A value that is read back equals the value that was
/// written, except that dates are rounded to milliseconds. Any other value that would change is refused when it is
/// written. GRDB's own conversions, for example, lose the end of a text with a NUL.
public protocol ColumnValue: Sendable {
    /// The type of the column in SQL.
    static var columnType: Database.ColumnType { get }

    /// The value in the file; `nil` if it can't be stored without loss.
    var storedValue: DatabaseValue? { get }

    /// Returns the value that a stored value represents; `nil` if the stored value is of another type.
    static func value(of stored: DatabaseValue) -> Self?
}

extension Int: ColumnValue {}
extension Int8: ColumnValue {}
extension Int16: ColumnValue {}
extension Int32: ColumnValue {}
extension Int64: ColumnValue {}
extension UInt: ColumnValue {}
extension UInt8: ColumnValue {}
extension UInt16: ColumnValue {}
extension UInt32: ColumnValue {}
extension UInt64: ColumnValue {}

extension Double: ColumnValue {}
extension Float: ColumnValue {}

extension Bool: ColumnValue {
    /// INTEGER, 0 or 1.
    public static var columnType: Database.ColumnType { .integer }
    /// 0 or 1.
    public var storedValue: DatabaseValue? { databaseValue }
    /// Returns the value; `nil` if it is no integer.
    public static func value(of stored: DatabaseValue) -> Bool? { fromDatabaseValue(stored) }
}

extension String: ColumnValue {
    /// TEXT in UTF-8.
    public static var columnType: Database.ColumnType { .text }
    /// The text; `nil` if it contains a NUL, at which many readers of SQLite stop.
    public var storedValue: DatabaseValue? { utf8.contains(0) ? nil : databaseValue }
    /// Returns the text; `nil` if it is of another type.
    public static func value(of stored: DatabaseValue) -> String? { fromDatabaseValue(stored) }
}

extension Data: ColumnValue {
    /// BLOB.
    public static var columnType: Database.ColumnType { .blob }
    /// The bytes.
    public var storedValue: DatabaseValue? { databaseValue }
    /// Returns the bytes; `nil` if they are of another type.
    public static func value(of stored: DatabaseValue) -> Data? { fromDatabaseValue(stored) }
}

extension UUID: ColumnValue {
    /// BLOB of 16 bytes.
    public static var columnType: Database.ColumnType { .blob }
    /// The bytes.
    public var storedValue: DatabaseValue? { databaseValue }
    /// Returns the id. It may be stored as bytes or as text.
    public static func value(of stored: DatabaseValue) -> UUID? { fromDatabaseValue(stored) }
}

extension URL: ColumnValue {
    /// TEXT, the absolute URL.
    public static var columnType: Database.ColumnType { .text }

    /// The absolute URL; `nil` if Foundation would read another URL from its text.
    public var storedValue: DatabaseValue? {
        let text = absoluteString
        return URL(string: text)?.absoluteString == text ? text.storedValue : nil
    }

    /// Returns the URL; `nil` if the text is no URL.
    public static func value(of stored: DatabaseValue) -> URL? { fromDatabaseValue(stored) }
}

extension Date: ColumnValue {
    /// TEXT, in the format of SQLite's date functions and of GRDB: UTC with milliseconds.
    public static var columnType: Database.ColumnType { .text }

    /// The date, rounded to milliseconds; `nil` outside the years 0 to 9999.
    public var storedValue: DatabaseValue? { UTCText(self)?.text.databaseValue }

    /// Returns the date. Dates that another library wrote are read, too: as a text of SQLite, or in seconds since 1970.
    public static func value(of stored: DatabaseValue) -> Date? {
        if case .string(let text) = stored.storage, let date = UTCText(text)?.date { return date }
        return fromDatabaseValue(stored)
    }
}

extension ColumnValue where Self: RawRepresentable, RawValue: ColumnValue {
    /// The type of the raw value.
    public static var columnType: Database.ColumnType { RawValue.columnType }
    /// The raw value.
    public var storedValue: DatabaseValue? { rawValue.storedValue }

    /// Returns the case of a raw value; `nil` if there is none.
    public static func value(of stored: DatabaseValue) -> Self? {
        RawValue.value(of: stored).flatMap { Self(rawValue: $0) }
    }
}

extension ColumnValue where Self: Codable {
    /// TEXT, as JSON with sorted keys.
    public static var columnType: Database.ColumnType { .text }

    /// The JSON; `nil` if the value can't be encoded.
    public var storedValue: DatabaseValue? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).flatMap { String(decoding: $0, as: UTF8.self).storedValue }
    }

    /// Returns the value that the JSON encodes; `nil` if it can't be decoded.
    public static func value(of stored: DatabaseValue) -> Self? {
        guard case .string(let text) = stored.storage else { return nil }
        return try? JSONDecoder().decode(Self.self, from: Data(text.utf8))
    }
}

extension ColumnValue where Self: Codable & RawRepresentable, RawValue: ColumnValue {
    /// The type of the raw value.
    public static var columnType: Database.ColumnType { RawValue.columnType }
    /// The raw value.
    public var storedValue: DatabaseValue? { rawValue.storedValue }

    /// Returns the case of a raw value; `nil` if there is none.
    public static func value(of stored: DatabaseValue) -> Self? {
        RawValue.value(of: stored).flatMap { Self(rawValue: $0) }
    }
}

extension ColumnValue where Self: Codable & FixedWidthInteger & DatabaseValueConvertible {
    /// Integers are INTEGER.
    public static var columnType: Database.ColumnType { .integer }
    /// The value; `nil` if it is larger than 2^63 - 1, the largest integer of SQLite.
    public var storedValue: DatabaseValue? { Int64(exactly: self)?.databaseValue }
    /// Returns the value; `nil` if it does not fit into the type.
    public static func value(of stored: DatabaseValue) -> Self? { fromDatabaseValue(stored) }
}

extension ColumnValue where Self: Codable & BinaryFloatingPoint & DatabaseValueConvertible {
    /// Floating-point numbers are REAL.
    public static var columnType: Database.ColumnType { .real }
    /// The value; `nil` for NaN, for which SQLite would store NULL. -0 is stored as 0, as SQLite does.
    public var storedValue: DatabaseValue? { isNaN ? nil : (self + 0).databaseValue }
    /// Returns the value; `nil` if it is of another type.
    public static func value(of stored: DatabaseValue) -> Self? { fromDatabaseValue(stored) }
}
