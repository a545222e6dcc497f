import Foundation
public import GRDB

/// A file beside the rows. A column has the name of the file, and a folder beside the database has its bytes.
///
/// ```swift
/// static let poster = Column<StoredFile?>("poster") { $0.byteCount <= 5 << 20 }
/// ```
///
/// Only ``RecordStore/withFile(_:isolation:_:)`` and its overloads make a stored file. Its bytes never change: another
/// picture is another file. Any number of rows and columns may name one file. The file is removed after the commit by
/// which the last row stops naming it. A program that has the file open at that time can read it to its end.
///
/// The type is not `Codable`, so that a file can't be named in a column of JSON, where the store would not find it.
public struct StoredFile: ColumnValue, Hashable {
    /// The size of the file in bytes.
    public let byteCount: Int
    /// The unique part of the name: no other file ever has this id.
    let id: UUID
    /// The SHA-256 of the bytes in hexadecimal digits; `nil` for a file of a store whose files no other module follows.
    package let digest: String?

    init(id: UUID, byteCount: Int, digest: String? = nil) {
        (self.id, self.byteCount, self.digest) = (id, byteCount, digest)
    }

    /// Makes the id of a new file. It begins with the time of its creation (RFC 9562 §5.7).
    static func newID() -> UUID {
        let random = UUID()
        return UUID(uuidString: start(of: Date()) + "-7" + random.uuidString.dropFirst(15)) ?? random
    }

    /// Returns the first characters of all ids that are made in a millisecond. Earlier ids are smaller as texts.
    static func start(of date: Date) -> String {
        let digits = String(UInt64(max(0, date.timeIntervalSince1970 * 1000)) | 1 << 48, radix: 16).dropFirst()
        return "\(digits.prefix(8))-\(digits.suffix(4))"
    }

    /// Reads a name; `nil` if the text is not exactly as ``name`` writes it, for example if it is a path.
    package init?(name: String) {
        let parts = name.dropFirst(37).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard let id = UUID(uuidString: String(name.prefix(36))), let byteCount = parts.first.flatMap({ Int($0) })
        else { return nil }
        let digest = parts.count == 2 ? String(parts[1]) : nil
        self.init(id: id, byteCount: byteCount, digest: digest)
        guard byteCount >= 0, digest.map(Self.isDigest) ?? true, self.name.utf8.elementsEqual(name.utf8) else {
            return nil
        }
    }

    private static func isDigest(_ text: String) -> Bool {
        text.utf8.count == 64
            && text.utf8.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            }
    }

    /// The name of the file in its folder, and the value in the row.
    package var name: String { "\(id.uuidString.lowercased())-\(byteCount)" + (digest.map { "-\($0)" } ?? "") }

    /// TEXT, the name of the file.
    public static var columnType: Database.ColumnType { .text }
    /// The name of the file.
    public var storedValue: DatabaseValue? { name.databaseValue }

    /// Returns the file that a stored name refers to; `nil` if the text is not the name of a file.
    public static func value(of stored: DatabaseValue) -> StoredFile? {
        guard case .string(let name) = stored.storage else { return nil }
        return StoredFile(name: name)
    }
}
