import Foundation
public import GRDB

/// A file beside the rows: a column has its name, and a folder beside the database has its bytes.
///
/// ```swift
/// static let poster = Column<StoredFile?>("poster") { $0.byteCount <= 5 << 20 }
/// ```
///
/// Only ``RecordStore/withFile(_:isolation:_:)`` and its siblings make one. The bytes never change: another picture is
/// another file. Any number of rows and columns may name one file; it is removed after the commit of the change by
/// which the last row stops naming it. A program that has it open then can read it to its end.
///
/// The value is no `Codable` type, so that it can't be hidden in a column of JSON, where nobody would find it.
public struct StoredFile: ColumnValue, Hashable {
    /// The size of the file in bytes.
    public let byteCount: Int
    /// The part of the name that no second file ever gets.
    let id: UUID

    init(id: UUID, byteCount: Int) { (self.id, self.byteCount) = (id, byteCount) }

    /// Makes the id of a new file, which begins with its time (RFC 9562 §5.7).
    static func newID() -> UUID {
        let random = UUID()
        return UUID(uuidString: start(of: Date()) + "-7" + random.uuidString.dropFirst(15)) ?? random
    }

    /// Returns the first characters of all ids of a millisecond. Earlier ids are smaller as texts.
    static func start(of date: Date) -> String {
        let digits = String(UInt64(max(0, date.timeIntervalSince1970 * 1000)) | 1 << 48, radix: 16).dropFirst()
        return "\(digits.prefix(8))-\(digits.suffix(4))"
    }

    /// Reads a name; `nil` if it is not exactly one that this type writes, such as a path.
    init?(name: String) {
        guard let id = UUID(uuidString: String(name.prefix(36))), let byteCount = Int(name.dropFirst(37)) else {
            return nil
        }
        self.init(id: id, byteCount: byteCount)
        guard byteCount >= 0, self.name.utf8.elementsEqual(name.utf8) else { return nil }
    }

    /// The name of the file in its folder, and the value in the row.
    var name: String { "\(id.uuidString.lowercased())-\(byteCount)" }

    /// TEXT, the name of the file.
    public static var columnType: Database.ColumnType { .text }
    /// The name of the file.
    public var storedValue: DatabaseValue? { name.databaseValue }

    /// Returns the file of a name; `nil` if the text is no name of a file.
    public static func value(of stored: DatabaseValue) -> StoredFile? {
        guard case .string(let name) = stored.storage else { return nil }
        return StoredFile(name: name)
    }
}
