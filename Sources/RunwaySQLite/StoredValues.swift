package import Foundation
package import GRDB

/// The meaning of an SQLite error for the user of a file.
package enum SQLiteFailure: Sendable {
    /// The disk has no space.
    case full
    /// Another connection has a lock.
    case locked
    /// The contents of the file are damaged, or are not a database.
    case damaged
    /// Any other error, which may be temporary.
    case unavailable
}

extension DatabaseError {
    /// Returns the meaning of the error for a file.
    ///
    /// - Parameter url: The file. If it can be written, but its header says that it can't, it is damaged.
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

    /// The code, as text for people. The other texts of an error are not used: they may contain values of a statement.
    package var codeText: String { "SQLite code \(extendedResultCode.rawValue)" }
}

/// A column has a value of another type than was written: the file is damaged.
package struct DamagedColumn: Error {}

extension Row {
    /// Returns the value of a column. The subscript of `Row` traps for a value of another type, which a damaged file
    /// may have.
    package func value<Value: DatabaseValueConvertible>(_ column: Int) throws(DamagedColumn) -> Value {
        guard let value = Value.fromDatabaseValue(self[column]) else { throw DamagedColumn() }
        return value
    }

    /// Returns the value of a column; `nil` if it is NULL.
    package func optionalValue<Value: DatabaseValueConvertible>(_ column: Int) throws(DamagedColumn) -> Value? {
        let stored: DatabaseValue = self[column]
        return stored.isNull ? nil : try value(column)
    }
}

/// A 64-bit checksum (FNV-1a) that detects changed bytes. It does not protect against forgery.
package struct RowChecksum {
    private var sum: UInt64 = 0xCBF2_9CE4_8422_2325

    package init() {}

    /// The checksum as SQLite stores it.
    package var value: Int64 { Int64(bitPattern: sum) }

    package mutating func add(_ bytes: [UInt8]) { bytes.withUnsafeBytes { add($0) } }

    package mutating func add(_ text: String) {
        var text = text
        text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
    }

    package mutating func add(_ number: Int64) { withUnsafeBytes(of: number.littleEndian) { add($0) } }

    /// Adds a text, or the fact that it is absent.
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
