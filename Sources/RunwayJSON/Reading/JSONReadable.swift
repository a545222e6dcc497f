#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A type that ``JSONValue/require(_:)`` can read.
///
/// Strings, booleans, integers, doubles, decimals, JSON values, arrays and optionals of these conform. A type of an app
/// conforms by requiring its parts:
///
/// ```swift
/// extension Price: JSONReadable {
///     static func read(from value: JSONValue) throws(JSONError) -> Price {
///         Price(amount: try value["amount"].require(), currency: try value["currency"].require())
///     }
/// }
/// ```
public protocol JSONReadable {
    /// Reads a value, or throws an error that describes the value found instead.
    ///
    /// The implementation must not block. Read nested values with ``JSONValue/require(_:)``, since its errors contain
    /// the path.
    static func read(from value: JSONValue) throws(JSONError) -> Self
}

extension JSONValue {
    /// Returns the value as a type. Errors contain the path, the expected and the found value, and the body's start.
    ///
    /// Creating an error takes time in proportion to the document up to the value. If many values may be of another
    /// kind, use properties such as ``string`` and ``int``, which are then `nil`.
    ///
    /// - Throws: ``JSONError`` of kind `missing`, `typeMismatch` or `outOfRange`; for an unreadable document, the error
    ///   of ``invalidDocumentError``.
    public func require<T: JSONReadable>(_ type: T.Type = T.self) throws(JSONError) -> T {
        if let invalidDocumentError { throw invalidDocumentError }
        return try T.read(from: self)
    }
}

extension JSONValue: JSONReadable {
    /// Returns the value itself, which may be `null`. Throws a ``JSONError`` if it is missing.
    public static func read(from value: JSONValue) throws(JSONError) -> JSONValue {
        guard value.exists else { throw value.mismatch(expected: "a value") }
        return value
    }
}

extension String: JSONReadable {
    /// Returns the text of a string. Throws a ``JSONError`` for every other kind.
    public static func read(from value: JSONValue) throws(JSONError) -> String {
        guard let string = value.string else { throw value.mismatch(expected: "a string") }
        return string
    }
}

extension Bool: JSONReadable {
    /// Returns the Boolean of a `true` or `false`. Throws a ``JSONError`` for every other kind.
    public static func read(from value: JSONValue) throws(JSONError) -> Bool {
        guard let bool = value.bool else { throw value.mismatch(expected: "a boolean") }
        return bool
    }
}

extension Double: JSONReadable {
    /// Returns the double nearest to a number.
    public static func read(from value: JSONValue) throws(JSONError) -> Double {
        guard let double = value.double else { throw value.mismatch(expected: "a number", holdable: "a Double") }
        return double
    }
}

extension Float: JSONReadable {
    /// Returns the float nearest to a number.
    public static func read(from value: JSONValue) throws(JSONError) -> Float {
        guard let float = value.storage.float(at: value.index) else {
            throw value.mismatch(expected: "a number", holdable: "a Float")
        }
        return float
    }
}

extension Decimal: JSONReadable {
    /// Returns a number as a decimal, exact up to 38 digits.
    public static func read(from value: JSONValue) throws(JSONError) -> Decimal {
        guard let decimal = value.decimal else { throw value.mismatch(expected: "a number", holdable: "a Decimal") }
        return decimal
    }
}

extension JSONReadable where Self: FixedWidthInteger {
    /// Returns the exact integer; `1.0` and `1e2` are integers. Throws a ``JSONError`` if the type cannot represent the
    /// number.
    public static func read(from value: JSONValue) throws(JSONError) -> Self {
        if let integer = value.storage.integer(at: value.index) as Self? { return integer }
        throw value.mismatch(expected: "an integer", holdable: "an integer of \(Self.self)")
    }
}

extension Int: JSONReadable {}
extension Int8: JSONReadable {}
extension Int16: JSONReadable {}
extension Int32: JSONReadable {}
extension Int64: JSONReadable {}
extension UInt: JSONReadable {}
extension UInt8: JSONReadable {}
extension UInt16: JSONReadable {}
extension UInt32: JSONReadable {}
extension UInt64: JSONReadable {}
extension Int128: JSONReadable {}
extension UInt128: JSONReadable {}

extension Array: JSONReadable where Element: JSONReadable {
    /// Returns the elements of an array, all of which must be readable.
    public static func read(from value: JSONValue) throws(JSONError) -> [Element] {
        guard value.kind == .array else { throw value.mismatch(expected: "an array") }
        var array: [Element] = []
        array.reserveCapacity(Swift.min(value.count, largestReserve))
        for element in value.elements { array.append(try Element.read(from: element)) }
        return array
    }
}

extension Optional: JSONReadable where Wrapped: JSONReadable {
    /// Returns `nil` if the value is absent or `null`; any other value must be readable.
    public static func read(from value: JSONValue) throws(JSONError) -> Wrapped? {
        switch value.kind {
        case .missing, .null: nil
        default: try Wrapped.read(from: value)
        }
    }
}
