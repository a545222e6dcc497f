package import Foundation
package import GRDB

/// The consequence of an SQLite error for the user of a file.
package enum SQLiteFailure: Sendable {
    case full
    /// Another connection holds a lock.
    case locked
    /// The file is damaged, or is not a database.
    case damaged
    /// Another error occurred, which may be temporary.
    case unavailable
}

extension DatabaseError {
    /// Classifies the error.
    ///
    /// - Parameter url: The file. It counts as damaged if it is writable, but its header marks it as read-only.
    package func failure(of url: URL) -> SQLiteFailure {
        switch resultCode {
        case .SQLITE_FULL: .full
        // The disk has no space for SQLite's shared-memory file.
        case .SQLITE_IOERR where extendedResultCode == .SQLITE_IOERR_SHMSIZE: .full
        case .SQLITE_BUSY, .SQLITE_LOCKED: .locked
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_FORMAT:
            .damaged
        case .SQLITE_READONLY
        where extendedResultCode == resultCode && FileManager.default.isWritableFile(atPath: url.path):
            .damaged
        default: .unavailable
        }
    }

    /// The error code as text. Other texts of the error are not used, since they may contain values from a statement.
    package var codeText: String { "SQLite code \(extendedResultCode.rawValue)" }
}

extension StatementArguments {
    /// Passes values to a statement. GRDB's initialiser for values of one type makes a key path at each call, which
    /// takes as long as the rest.
    package init(values: [DatabaseValue]) { self.init(values.map { $0 as (any DatabaseValueConvertible)? }) }
}

/// The error for a column whose value has another type than the written value. The file is then damaged.
package struct DamagedColumn: Error {}

extension Row {
    /// Returns the value of a column. Throws an error if the value has another type, as in a damaged file; the
    /// subscript of `Row` would trap.
    package func value<Value: DatabaseValueConvertible>(_ column: Int) throws(DamagedColumn) -> Value {
        guard let value = Value.fromDatabaseValue(self[column]) else { throw DamagedColumn() }
        return value
    }

    /// Returns the value of a column; `nil` if it is NULL. Throws an error if the value has another type.
    package func optionalValue<Value: DatabaseValueConvertible>(_ column: Int) throws(DamagedColumn) -> Value? {
        let stored: DatabaseValue = self[column]
        return stored.isNull ? nil : try value(column)
    }
}

/// A 64-bit checksum (FNV-1a) that detects changed bytes, but not forgery.
package struct RowChecksum {
    private var sum: UInt64 = 0xCBF2_9CE4_8422_2325

    package init() {}

    /// The checksum as a signed integer, which SQLite can store.
    package var value: Int64 { Int64(bitPattern: sum) }

    package mutating func add(_ bytes: [UInt8]) { bytes.withUnsafeBytes { add($0) } }

    package mutating func add(_ text: String) {
        var text = text
        text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
    }

    package mutating func add(_ number: Int64) { withUnsafeBytes(of: number.littleEndian) { add($0) } }

    /// Adds a text to the checksum. `nil` differs from an empty text.
    package mutating func add(optional text: String?) {
        add(text == nil ? 0 : 1)
        if let text { add(text) }
    }

    private mutating func add(_ bytes: UnsafeRawBufferPointer) {
        for byte in bytes { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01B3 }
        // The separator makes the sum change if a byte moves from one value to the next.
        sum = (sum ^ 0x100) &* 0x100_0000_01B3
    }
}
