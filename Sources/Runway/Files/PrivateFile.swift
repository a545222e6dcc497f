import Foundation

/// A file that only the user of the process may read, and the operations that keep it so.
package struct PrivateFile {
    private let file: OpenFile

    /// Opens a file; returns `nil` if it does not exist.
    ///
    /// - Throws: ``FileError``, for example if the file is not a regular file, belongs to another owner, or is open to
    ///   others.
    init?(reading path: String) throws(FileError) {
        guard let file = try OpenFile.existing(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else { return nil }
        try Self.check(try file.status(), isFolder: false, path)
        self.file = file
    }

    /// Returns the bytes of the file.
    ///
    /// - Throws: ``FileError``, for example if the file has more than `maximumByteCount` bytes.
    func read(upTo maximumByteCount: Int) throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let part = try file.read(4096, at: bytes.count)
            if part.isEmpty { return bytes }
            bytes += part
            if bytes.count > maximumByteCount { throw Self.untrusted(file.path, "it is too large") }
        }
    }

    /// Replaces a file by one with these bytes, atomically for all readers. If several calls, in this process or
    /// others, replace it at the same time, the last to end wins.
    ///
    /// Each call writes a draft of its own, under the first free name, and holds it locked. A draft that a crash left
    /// is not locked, and the next call that gets its name removes it: there are never more drafts than were written at
    /// the same time, nor more than ``maximumDrafts``. Where files are not locked (``AppGroup``), a draft counts as
    /// abandoned if it was not written to for ``longestDraft``.
    package static func replace(_ path: String, with bytes: [UInt8]) throws(FileError) {
        let draft = try makeDraft(of: path)
        // It is locked for as long as it is open.
        defer { withExtendedLifetime(draft) {} }
        do throws(FileError) {
            try draft.write(bytes, at: 0)
            // A mask of the process may have taken more than it should.
            try draft.setMode(0o600)
            try draft.sync()
            // Where it was not locked, another may have replaced it by its own.
            guard try draft.isInPlace() else {
                throw FileError(path, "can't be replaced", reason: "its draft was removed")
            }
            guard rename(draft.path, path) == 0 else { throw FileError(path, "can't be replaced") }
        } catch {
            if (try? draft.isInPlace()) == true { unlink(draft.path) }
            throw error
        }
        try OpenFile.syncFolder(of: path)
    }

    /// The most drafts of one file at a time; a further call fails.
    static let maximumDrafts = 64

    /// The longest time for which a draft that is not locked may be written.
    static let longestDraft = Duration.seconds(3600)

    private static func makeDraft(of path: String) throws(FileError) -> OpenFile {
        for draft in drafts(of: path) {
            removeAbandoned(draft)
            do throws(FileError) {
                let file = try OpenFile(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
                // Another process may have taken it for abandoned before it was locked, and removed it.
                if takes(file) { return file }
            } catch {
                if error.code != EEXIST { throw error }
            }
        }
        throw FileError(path, "can't be replaced", reason: "\(maximumDrafts) drafts of it are being written")
    }

    /// Returns the names that drafts of a file can have, in the order in which they are taken.
    private static func drafts(of path: String) -> [String] {
        (0..<maximumDrafts).map { path + ($0 == 0 ? ".new" : ".new\($0)") }
    }

    /// Removes a draft that is not locked.
    private static func removeAbandoned(_ draft: String) {
        guard let file = try? OpenFile(draft, O_WRONLY | O_NOFOLLOW | O_NONBLOCK) else { return }
        withExtendedLifetime(file) {
            if takes(file), !isRecent(file) { unlink(draft) }
        }
    }

    /// Returns whether a draft that can't be locked may still be in use.
    private static func isRecent(_ draft: OpenFile) -> Bool {
        guard !draft.isLockable, let modified = try? draft.status().modified else { return false }
        let age = Date().timeIntervalSince1970 - Double(modified) / 1e9
        return age < longestDraft.seconds
    }

    /// Takes a draft for oneself, until it is closed; `false` where another has it, or where it was moved or removed
    /// meanwhile.
    private static func takes(_ draft: OpenFile) -> Bool { draft.lock() && (try? draft.isInPlace()) == true }

    /// Removes a file, and drafts of it that crashes left; does nothing if it does not exist.
    static func remove(_ path: String) throws(FileError) {
        for draft in drafts(of: path) { removeAbandoned(draft) }
        if try OpenFile.remove(path) { try OpenFile.syncFolder(of: path) }
    }

    /// Creates a folder of the user's own, and its parents below `root`; `root` and the folders above it are created
    /// with the usual permissions.
    static func makeFolder(_ path: String, below root: String) throws(FileError) {
        if path.utf8.count > root.utf8.count {
            try makeFolder((path as NSString).deletingLastPathComponent, below: root)
        } else {
            let above = (root as NSString).deletingLastPathComponent
            // An error here also occurs for the folder itself and is reported below.
            try? FileManager.default.createDirectory(atPath: above, withIntermediateDirectories: true)
        }
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw FileError(path, "can't be made") }
        try checkFolder(path)
    }

    /// Makes sure that a folder is the user's own.
    static func checkFolder(_ path: String) throws(FileError) {
        guard let status = try OpenFile.status(at: path) else { throw untrusted(path, "it is not there") }
        try check(status, isFolder: true, path)
    }

    private static func check(_ status: OpenFile.Metadata, isFolder: Bool, _ path: String) throws(FileError) {
        guard isFolder ? status.isFolder : status.isPlainFile else {
            throw untrusted(path, "it is not a \(isFolder ? "folder" : "plain file")")
        }
        guard status.owner == geteuid() else { throw untrusted(path, "it belongs to another user") }
        guard status.isPrivate else {
            throw untrusted(path, "it is open to others, mode \(String(status.mode & 0o777, radix: 8))")
        }
    }

    private static func untrusted(_ path: String, _ reason: String) -> FileError {
        FileError(path, "is not trusted", reason: reason)
    }
}
