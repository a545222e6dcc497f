package import Foundation

/// A file beside a database whose only purpose is to occupy space: an erasure on a full disk removes it, since SQLite
/// can't remove rows without space. See `docs/decisions/0127-space-for-erasures.md`.
package struct SpaceReserve: Sendable {
    /// 5.9 MiB: the thousand pages of the write-ahead log, and 2 MiB for the commit after them. Each transaction of an
    /// erasure needs no more.
    package static let byteCount = SQLiteFile.checkpointPageCount * 4096 + (2 << 20)

    private let file: URL
    private let protect: @Sendable (URL) throws -> Void

    /// - Parameter protect: Protects the file that was made. The default does nothing.
    package init(for database: URL, protect: @escaping @Sendable (URL) throws -> Void = { _ in }) {
        file = URL(fileURLWithPath: database.path + "-reserve")
        self.protect = protect
    }

    /// Whether the file is there, and whole.
    package var isMade: Bool { SQLiteFile.byteCount(at: file.path) == Self.byteCount }

    /// Creates the file, unless it exists or the disk has no space for it.
    ///
    /// - Parameter restByteCount: The bytes that must remain free on the disk, so that the reserve does not take the
    ///   last space from the database. The default is 0.
    package func make(leaving restByteCount: Int = 0) {
        if isMade { return }
        // A process that ended while it wrote the file has left one of another size. What else is there, such as a
        // link, is replaced, and not followed.
        _ = release()
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        defer { try? handle.close() }
        do {
            // The rest is taken and given back, which shows that the disk has it.
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
    /// - Returns: Whether there was one.
    package func release() -> Bool { unlink(file.path) == 0 }
}
