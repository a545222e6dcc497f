package import Foundation

extension RecordStore {
    /// Whether the bytes of a file are in the folder of this store.
    package func isHere(_ file: StoredFile) async -> Bool { (try? await url(of: file)) != nil }

    /// Moves the bytes of a file that rows name into the folder. If no row names it any more, the source is removed.
    ///
    /// - Returns: Whether a row names the file.
    /// - Throws: ``TableError/Kind/rejected`` if the source has other bytes; it stays. Otherwise an error of the file.
    package func land(_ file: StoredFile, moving source: URL) async throws -> Bool {
        try checkWritable()
        let queue = try queue()
        return try await files.run { try $0.land(file, moving: source.path, queue) }
    }
}
