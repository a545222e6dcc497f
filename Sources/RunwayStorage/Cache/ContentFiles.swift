import Foundation
import Runway
import RunwayFiles

/// The files of a ``DiskCache``. Each large response has one file, which contains its metadata and then its body.
struct ContentFiles: Sendable {
    let folder: String

    init(_ folder: URL) throws {
        self.folder = folder.path
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    private func path(_ id: Int64) -> String { "\(folder)/\(id)" }

    func create(_ content: CacheTierEntry, _ id: Int64) throws {
        let file = open(path(id), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw FileFailure("create a file", errno) }
        defer { close(file) }
        try Self.append(content.metadata, to: file)
        try Self.append(content.body, to: file)
    }

    private static func append(_ bytes: [UInt8], to file: Int32) throws {
        try bytes.withUnsafeBytes { buffer in
            var offset = 0
            while offset < buffer.count {
                let count = write(file, buffer.baseAddress.map { $0 + offset }, buffer.count - offset)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw FileFailure("write a file", errno) }
                offset += count
            }
        }
    }

    /// Returns the content of a stored response if the system has its whole file in memory; otherwise `nil`. Always
    /// returns `nil` on systems other than Linux.
    ///
    /// It never waits for the drive, so any thread may call it.
    func readFromMemory(_ entry: DiskCacheEntry) -> CacheTierEntry? {
        let (metadataCount, bodyCount) = (entry.metadataByteCount, entry.bodyByteCount)
        var metadata: [UInt8] = []
        var isWhole = false
        let body = [UInt8](unsafeUninitializedCapacity: bodyCount) { body, readBodyCount in
            metadata = [UInt8](unsafeUninitializedCapacity: metadataCount) { metadata, readMetadataCount in
                isWhole = runway_read_from_memory(
                    path(entry.id), metadata.baseAddress, metadataCount, body.baseAddress, bodyCount)
                if isWhole { (readMetadataCount, readBodyCount) = (metadataCount, bodyCount) }
            }
        }
        return isWhole ? CacheTierEntry(metadata: metadata, body: body, kind: entry.kind) : nil
    }

    /// Returns the content of a stored response; `nil` if its file is missing, too short, or a symbolic link.
    ///
    /// - Throws: ``FileFailure`` if the file can't be opened now, for example because too many files are open.
    func read(_ entry: DiskCacheEntry) throws -> CacheTierEntry? {
        let file = open(path(entry.id), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else {
            if errno == ENOENT || errno == ELOOP { return nil }
            throw FileFailure("open a file", errno)
        }
        defer { close(file) }
        guard let metadata = Self.read(file, entry.metadataByteCount, at: 0),
            let body = Self.read(file, entry.bodyByteCount, at: entry.metadataByteCount)
        else { return nil }
        return CacheTierEntry(metadata: metadata, body: body, kind: entry.kind)
    }

    private static func read(_ file: Int32, _ byteCount: Int, at offset: Int) -> [UInt8]? {
        let bytes = [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
            while count < byteCount {
                let part = pread(
                    file, buffer.baseAddress.map { $0 + count }, byteCount - count, off_t(offset + count))
                if part < 0, errno == EINTR { continue }
                if part <= 0 { break }
                count += part
            }
        }
        return bytes.count == byteCount ? bytes : nil
    }

    /// Removes the file of a stored response if it exists. Returns `false` if it can't be removed.
    @discardableResult
    func remove(_ id: Int64) -> Bool { unlink(path(id)) == 0 || errno == ENOENT }

    /// Removes files of responses that the index does not contain. Such a file remains if a process ends during a
    /// write. Reads the whole folder.
    func removeAll(besides ids: Set<Int64>) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            if let id = Int64(name), ids.contains(id) { continue }
            try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
        }
    }
}

struct FileFailure: Error, CustomStringConvertible {
    let description: String

    init(_ operation: String, _ code: Int32) {
        description = "can't \(operation): \(String(cString: strerror(code)))"
    }
}
