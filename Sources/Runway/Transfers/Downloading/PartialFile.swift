import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// What has come of a download so far, beside the file that it is to become, with a note of what it is the beginning of.
///
/// Both are the user's own, of mode 0600. The file is locked as long as this value lives, so that no two downloads write to it.
final class PartialFile: Sendable {
    let target: String
    private let file: OpenFile
    private let queue = DiskQueue()

    private var notePath: String { Self.notePath(of: target) }
    static func path(of target: String) -> String { target + ".part" }
    private static func notePath(of target: String) -> String { path(of: target) + ".info" }

    private init(_ target: String, _ file: OpenFile) {
        self.target = target
        self.file = file
    }

    // Now, and not when the last descriptor closes: the queue lets go of the file a moment after it has told that it is done, and a process
    // that is just being started has a copy.
    deinit { file.unlock() }

    /// Opens the partial file of a target, which is made where there is none.
    static func open(for target: String) async throws(FileError) -> PartialFile {
        try await DiskQueue().run { () throws(FileError) in try openNow(target) }
    }

    private static func openNow(_ target: String) throws(FileError) -> PartialFile {
        if let status = try OpenFile.status(at: target), !status.isPlainFile, !status.isLink {
            throw FileError(
                target, "can't be replaced", reason: "it is \(status.isFolder ? "a folder" : "no plain file")")
        }
        let path = path(of: target)
        while true {
            let file = try OpenFile(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK)
            let status = try file.status()
            guard status.isPlainFile, status.isPrivate else {
                throw FileError(
                    path, "can't be used", reason: "it is no plain file of the user's own and nobody else's")
            }
            guard file.lock() else {
                throw FileError(path, "can't be used", reason: "another download to the same place is under way")
            }
            // Another download may have moved or removed it before it was locked.
            if try file.isInPlace() { return PartialFile(target, file) }
        }
    }

    /// What an earlier download of this source left; `nil` where there is nothing that can be relied upon.
    func remains(of source: String) async throws(FileError) -> (representation: Representation, byteCount: Int)? {
        let (file, notePath) = (file, notePath)
        return try await queue.run { () throws(FileError) in
            let byteCount = try file.status().byteCount
            // A note that can't be read, is cut off or not to be trusted is as good as none.
            guard byteCount > 0,
                let bytes = try? PrivateFile(reading: notePath)?.read(upTo: PartialMetadata.maximumByteCount),
                let note = PartialMetadata(bytes), note.source == source,
                byteCount <= note.representation.byteCount ?? .max
            else { return nil }
            return (note.representation, note.reliableByteCount(of: byteCount, in: BootSession.name))
        }
    }

    /// Empties the file. Where what comes can be gone on with later, a note says so.
    func begin(_ representation: Representation, of source: String) async throws(FileError) {
        let (file, notePath) = (file, notePath)
        try await queue.run { () throws(FileError) in
            // In this order, no crash leaves bytes with a note of other ones.
            try file.truncate(to: 0)
            if representation.validator == nil {
                try OpenFile.remove(notePath)
            } else {
                try Self.write(
                    PartialMetadata(source: source, representation: representation, bootSession: BootSession.name),
                    notePath
                )
            }
        }
    }

    /// Lets what was written so far outlive a loss of power, and notes it.
    func checkpoint(_ representation: Representation, of source: String, byteCount: Int) async throws(FileError) {
        let (file, notePath) = (file, notePath)
        try await queue.run { () throws(FileError) in
            try file.sync()
            guard representation.validator != nil else { return }
            try Self.write(
                PartialMetadata(
                    source: source, representation: representation, bootSession: BootSession.name,
                    syncedByteCount: byteCount), notePath)
        }
    }

    /// Writes bytes to a place.
    func write(_ bytes: [UInt8], at offset: Int) async throws(FileError) {
        let file = file
        try await queue.run { () throws(FileError) in try file.write(bytes, at: offset) }
    }

    /// Bytes that are in it; fewer than asked for at its end.
    func read(_ count: Int, at offset: Int) async throws(FileError) -> [UInt8] {
        let file = file
        return try await queue.run { () throws(FileError) in try file.read(count, at: offset) }
    }

    /// Puts the file, which has come whole, in the place of the target, at once for everyone who reads that.
    func commit(byteCount: Int) async throws(FileError) {
        let (file, target, notePath) = (file, target, notePath)
        try await queue.run { () throws(FileError) in
            let path = Self.path(of: target)
            guard try file.isInPlace() else {
                throw FileError(path, "can't be moved", reason: "somebody has moved or removed it")
            }
            try file.truncate(to: byteCount)
            // A file that is replaced keeps its rights.
            if let status = try OpenFile.status(at: target), status.isPlainFile {
                try file.setMode(status.mode & 0o777)
            }
            try file.sync()
            guard rename(path, target) == 0 else { throw FileError(target, "can't be replaced") }
            try OpenFile.remove(notePath)
            try OpenFile.syncFolder(of: target)
        }
    }

    /// Removes the file and its note.
    func remove() async throws(FileError) {
        let target = target
        try await queue.run { () throws(FileError) in try Self.remove(target) }
    }

    /// Removes what a download to a target left; does nothing where there is nothing.
    static func remove(_ target: String) throws(FileError) {
        try OpenFile.remove(notePath(of: target))
        try OpenFile.remove(path(of: target))
    }

    private static func write(_ note: PartialMetadata, _ path: String) throws(FileError) {
        let text: [UInt8]
        do { text = try note.text() } catch {
            throw FileError(path, "can't be kept", reason: error.redactedDescription)
        }
        try PrivateFile.replace(path, with: text)
    }
}
