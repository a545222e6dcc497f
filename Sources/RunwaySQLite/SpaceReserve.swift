package import Foundation

/// A file next to a database that only reserves space. On a full disk, an erasure removes this file first, since SQLite
/// needs space to remove rows. See `docs/decisions/0127-space-for-erasures.md`.
package struct SpaceReserve: Sendable {
    /// The size of the reserve, 5.9 MiB: a thousand pages of the write-ahead log, and 2 MiB for the next commit. No
    /// transaction of an erasure needs more.
    package static let byteCount = SQLiteFile.checkpointPageCount * 4096 + (2 << 20)

    private let file: URL
    private let protect: @Sendable (URL) throws -> Void

    /// - Parameter protect: Sets the protection of the created file. The default does nothing.
    package init(for database: URL, protect: @escaping @Sendable (URL) throws -> Void = { _ in }) {
        file = URL(fileURLWithPath: database.path + "-reserve")
        self.protect = protect
    }

    /// Whether the file exists with its full size.
    package var isMade: Bool { SQLiteFile.byteCount(at: file.path) == Self.byteCount }

    /// Creates the file unless it exists or the disk is too full.
    ///
    /// - Parameter restByteCount: The bytes that have to remain free on the disk, so that the reserve does not take the
    ///   database's last space. The default is 0.
    package func make(leaving restByteCount: Int = 0) {
        if isMade { return }
        // A file of another size is left over from a process that ended while it wrote the file. Anything else, such as
        // a link, is replaced and not followed.
        _ = release()
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        defer { try? handle.close() }
        do {
            // Writing these bytes and removing them again proves that the disk has the space.
            let block = Data(count: 1 << 20)
            for start in stride(from: 0, to: Self.byteCount + restByteCount, by: block.count) {
                try handle.write(contentsOf: block.prefix(Self.byteCount + restByteCount - start))
            }
            try handle.truncate(atOffset: UInt64(Self.byteCount))
            try protect(file)
        } catch {
            _ = release()
        }
    }

    /// Removes the file.
    ///
    /// - Returns: Whether the file existed.
    package func release() -> Bool { unlink(file.path) == 0 }
}
