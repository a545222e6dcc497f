import Foundation
import RunwaySQLite

/// A file beside a database whose only purpose is the space that it takes: an erasure on a full disk removes it, since SQLite can't
/// remove anything without space. See `docs/decisions/0127-space-for-erasures.md`.
struct SpaceReserve: Sendable {
    /// 5.9 MiB: the thousand pages of the write-ahead log, and 2 MiB for the commit after them. Each transaction of an erasure needs no more.
    static let byteCount = SQLiteFile.checkpointPageCount * 4096 + (2 << 20)

    private let path: String

    init(for database: URL) { path = database.path + "-reserve" }

    /// Creates the file, unless it exists or the disk has no space for it.
    func make() {
        // A process that ended while it wrote the file has left a smaller one.
        if SQLiteFile.byteCount(at: path) == Self.byteCount { return }
        let file = URL(fileURLWithPath: path)
        do {
            try Data(count: Self.byteCount).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            try StorageFolder.protect([file])
        } catch {
            _ = release()
        }
    }

    /// Removes the file.
    ///
    /// - Returns: Whether there was one.
    func release() -> Bool { (try? FileManager.default.removeItem(atPath: path)) != nil }
}
