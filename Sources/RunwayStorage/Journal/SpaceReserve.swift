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
    ///
    /// - Parameter restByteCount: How many bytes the disk must have left beside it, so that it does not take the last space of what it is
    ///   for. The default is 0.
    func make(leaving restByteCount: Int = 0) {
        // A process that ended while it wrote the file has left one of another size.
        if SQLiteFile.byteCount(at: path) == Self.byteCount { return }
        let file = URL(fileURLWithPath: path)
        do {
            let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
            guard FileManager.default.createFile(atPath: path, contents: nil, attributes: attributes) else {
                throw FileFailure("create a file", errno)
            }
            let handle = try FileHandle(forWritingTo: file)
            defer { try? handle.close() }
            // The rest is taken and given back, which shows that the disk has it.
            let block = Data(count: 1 << 20)
            for start in stride(from: 0, to: Self.byteCount + restByteCount, by: block.count) {
                try handle.write(contentsOf: block.prefix(Self.byteCount + restByteCount - start))
            }
            try handle.truncate(atOffset: UInt64(Self.byteCount))
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
