import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The received bytes of a download, in a file next to the target. Metadata in a second file identify the
/// representation.
///
/// Both files belong to the user and have mode 0600. The partial file is locked while this object exists, so that no
/// other download writes to it. Where files can't be locked (``AppGroup``), ``FileClaims`` still lets only one download
/// of a layer write the file at a time.
final class PartialFile: Sendable {
    let target: String
    private let file: OpenFile
    private let queue = DiskQueue()

    private var metadataPath: String { Self.metadataPath(of: target) }
    static func path(of target: String) -> String { target + ".part" }
    private static func metadataPath(of target: String) -> String { path(of: target) + ".info" }

    private init(_ target: String, _ file: OpenFile) {
        self.target = target
        self.file = file
    }

    // The file is unlocked explicitly, because closing may come too late. The queue releases the file a moment after
    // its work, and a process that is being started holds a copy of the descriptor.
    deinit { close() }

    /// Releases the file for other downloads. The file must not be written afterwards.
    func close() { file.unlock() }

    /// Opens the partial file of a target. Creates it if necessary.
    static func open(for target: String) async throws(FileError) -> PartialFile {
        try await DiskQueue().run { () throws(FileError) in try openNow(target) }
    }

    private static func openNow(_ target: String) throws(FileError) -> PartialFile {
        if let status = try OpenFile.status(at: target), !status.isPlainFile, !status.isLink {
            throw FileError(
                target, "can't be replaced", reason: "it is \(status.isFolder ? "a folder" : "not a regular file")")
        }
        let path = path(of: target)
        while true {
            let file = try OpenFile(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK)
            let status = try file.status()
            guard status.isPlainFile, status.isPrivate else {
                throw FileError(
                    path, "can't be used", reason: "it is not a regular file that only the user can access")
            }
            guard file.lock() else {
                throw FileError(path, "can't be used", reason: "another download to the same file is in progress")
            }
            // Another download may have moved or removed the file before it was locked.
            if try file.isInPlace() { return PartialFile(target, file) }
        }
    }

    /// Returns the reliable part of an earlier download with the same request and account, or `nil` if there is none.
    func remains(of source: String) async throws(FileError) -> (representation: Representation, byteCount: Int)? {
        let (file, metadataPath) = (file, metadataPath)
        return try await queue.run { () throws(FileError) in
            let byteCount = try file.status().byteCount
            // Damaged or unreadable metadata count as absent.
            guard byteCount > 0,
                let bytes = try? PrivateFile(reading: metadataPath)?.read(upTo: PartialMetadata.maximumByteCount),
                let note = PartialMetadata(bytes), note.source == source,
                byteCount <= note.representation.byteCount ?? .max
            else { return nil }
            return (note.representation, note.reliableByteCount(of: byteCount, in: BootSession.name))
        }
    }

    /// Empties the file, and stores metadata if the download can be resumed later.
    func begin(_ representation: Representation, of source: String) async throws(FileError) {
        let (file, metadataPath) = (file, metadataPath)
        try await queue.run { () throws(FileError) in
            // In this order, a crash never leaves bytes with the metadata of other bytes.
            try file.truncate(to: 0)
            if representation.validator == nil {
                try OpenFile.remove(metadataPath)
            } else {
                try Self.write(
                    PartialMetadata(source: source, representation: representation, bootSession: BootSession.name),
                    metadataPath
                )
            }
        }
    }

    /// Flushes the written bytes to the storage device, and records their number.
    func checkpoint(_ representation: Representation, of source: String, byteCount: Int) async throws(FileError) {
        let (file, metadataPath) = (file, metadataPath)
        try await queue.run { () throws(FileError) in
            try file.sync()
            guard representation.validator != nil else { return }
            try Self.write(
                PartialMetadata(
                    source: source, representation: representation, bootSession: BootSession.name,
                    syncedByteCount: byteCount), metadataPath)
        }
    }

    func write(_ bytes: [UInt8], at offset: Int) async throws(FileError) {
        let file = file
        try await queue.run { () throws(FileError) in try file.write(bytes, at: offset) }
    }

    /// Reads bytes at an offset. Returns fewer than `count` at the end of the file.
    func read(_ count: Int, at offset: Int) async throws(FileError) -> [UInt8] {
        let file = file
        return try await queue.run { () throws(FileError) in try file.read(count, at: offset) }
    }

    /// Replaces the target by the complete file, atomically.
    func commit(byteCount: Int) async throws(FileError) {
        let (file, target, metadataPath) = (file, target, metadataPath)
        try await queue.run { () throws(FileError) in
            let path = Self.path(of: target)
            guard try file.isInPlace() else {
                throw FileError(path, "can't be moved", reason: "somebody has moved or removed it")
            }
            try file.truncate(to: byteCount)
            // The new file receives the permissions of the file that it replaces.
            if let status = try OpenFile.status(at: target), status.isPlainFile {
                try file.setMode(status.mode & 0o777)
            }
            try file.sync()
            guard rename(path, target) == 0 else { throw FileError(target, "can't be replaced") }
            try OpenFile.remove(metadataPath)
            try OpenFile.syncFolder(of: target)
        }
    }

    func remove() async throws(FileError) {
        let target = target
        try await queue.run { () throws(FileError) in try Self.remove(target) }
    }

    /// Removes the partial file of a target. Does nothing if it does not exist.
    static func remove(_ target: String) throws(FileError) {
        try OpenFile.remove(metadataPath(of: target))
        try OpenFile.remove(path(of: target))
    }

    private static func write(_ note: PartialMetadata, _ path: String) throws(FileError) {
        let text: [UInt8]
        do { text = try note.text() } catch {
            throw FileError(path, "can't be stored", reason: error.redactedDescription)
        }
        try PrivateFile.replace(path, with: text)
    }
}
