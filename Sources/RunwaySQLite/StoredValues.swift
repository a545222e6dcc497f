package import Foundation
package import GRDB

/// What an error of SQLite means for who uses a file.
package enum SQLiteFailure: Sendable {
    /// There is no space.
    case full
    /// Another connection has a lock.
    case locked
    /// The contents of the file are damaged, or it is no database.
    case damaged
    /// Anything else, which may pass.
    case unavailable
}

extension DatabaseError {
    /// What the error means for a file.
    ///
    /// - Parameter url: The file: one that can be written, and has a header that says it can't, is damaged.
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

    /// The code, for people. No other text of an error is used: it may contain values of a statement.
    package var codeText: String { "SQLite code \(extendedResultCode.rawValue)" }
}

/// A column has a value of another type than was written: the file is damaged.
package struct DamagedColumn: Error {}

extension Row {
    /// The value of a column. The subscript of `Row` traps for a value of another type, which a damaged file may have.
    package func value<Value: DatabaseValueConvertible>(_ column: Int) throws(DamagedColumn) -> Value {
        guard let value = Value.fromDatabaseValue(self[column]) else { throw DamagedColumn() }
        return value
    }

    /// The value of a column, or `nil` if it has none.
    package func optionalValue<Value: DatabaseValueConvertible>(_ column: Int) throws(DamagedColumn) -> Value? {
        let stored: DatabaseValue = self[column]
        return stored.isNull ? nil : try value(column)
    }
}

/// A 64-bit sum (FNV-1a) by which damaged bytes differ from those that were written. It is no protection against
/// forgery.
package struct RowChecksum {
    private var sum: UInt64 = 0xCBF2_9CE4_8422_2325

    package init() {}

    /// The sum as SQLite stores it.
    package var value: Int64 { Int64(bitPattern: sum) }

    package mutating func add(_ bytes: [UInt8]) { bytes.withUnsafeBytes { add($0) } }

    package mutating func add(_ text: String) {
        var text = text
        text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
    }

    package mutating func add(_ number: Int64) { withUnsafeBytes(of: number.littleEndian) { add($0) } }

    /// Adds a text, or that it is absent.
    package mutating func add(optional text: String?) {
        add(text == nil ? 0 : 1)
        if let text { add(text) }
    }

    private mutating func add(_ bytes: UnsafeRawBufferPointer) {
        for byte in bytes { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01B3 }
        // A separator, so that a byte that moves from one value to the next changes the sum.
        sum = (sum ^ 0x100) &* 0x100_0000_01B3
    }
}
