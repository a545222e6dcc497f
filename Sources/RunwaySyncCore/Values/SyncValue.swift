/// A value of a column, as it is stored.
///
/// A column that an operation does not name is absent, which is not the same as ``null``. Dates, calendar days and
/// UUIDs are text or bytes, as their table stores them.
public enum SyncValue: Sendable {
    /// NULL in the database.
    case null
    /// A whole number.
    case integer(Int64)
    /// A number other than NaN. Infinities are valid.
    case real(Double)
    /// A text.
    case text(String)
    /// Bytes.
    case bytes([UInt8])

    /// Whether the value may be written. NaN is invalid, since it does not equal itself (rule 2).
    package var isValid: Bool {
        if case .real(let number) = self { !number.isNaN } else { true }
    }

    /// An estimate of the space that the value takes, in bytes.
    package var byteCount: Int {
        switch self {
        case .null: 1
        case .integer, .real: 8
        case .text(let text): text.utf8.count
        case .bytes(let bytes): bytes.count
        }
    }

    /// Compares two values: numbers by size, text and bytes byte by byte.
    ///
    /// - Returns: A negative number, 0 or a positive number; `nil` for values of different kinds, and for ``null``.
    package func compared(to other: SyncValue) -> Int? {
        func order<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
            left < right ? -1 : left == right ? 0 : 1
        }
        switch (self, other) {
        case (.integer(let left), .integer(let right)): return order(left, right)
        case (.real(let left), .real(let right)): return order(left, right)
        case (.integer(let left), .real(let right)): return right.isNaN ? nil : Self.order(left, right)
        case (.real(let left), .integer(let right)): return left.isNaN ? nil : -Self.order(right, left)
        case (.text(let left), .text(let right)):
            return left.utf8.lexicographicallyPrecedes(right.utf8) ? -1 : left.isSame(as: right) ? 0 : 1
        case (.bytes(let left), .bytes(let right)):
            return left.lexicographicallyPrecedes(right) ? -1 : left == right ? 0 : 1
        default: return nil
        }
    }

    /// Compares exactly: an integer from 2^53 on may have no equal `Double`.
    private static func order(_ left: Int64, _ right: Double) -> Int {
        if right >= 0x1p63 { return -1 }
        if right < -0x1p63 { return 1 }
        let whole = Int64(right)
        if left != whole { return left < whole ? -1 : 1 }
        return Double(whole) < right ? -1 : Double(whole) > right ? 1 : 0
    }
}

extension SyncValue: Hashable {
    /// Compares texts by their bytes, as databases do: a user who composes an accent anew has changed the text.
    public static func == (left: SyncValue, right: SyncValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.integer(let left), .integer(let right)): left == right
        case (.real(let left), .real(let right)): left == right
        case (.text(let left), .text(let right)): left.isSame(as: right)
        case (.bytes(let left), .bytes(let right)): left == right
        default: false
        }
    }

    /// Hashes the value.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: break
        case .integer(let number): hasher.combine(number)
        case .real(let number): hasher.combine(number)
        // Equal bytes are equal texts, and have equal hashes.
        case .text(let text): hasher.combine(text)
        case .bytes(let bytes): hasher.combine(bytes)
        }
    }
}
