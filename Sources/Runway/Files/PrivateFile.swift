import Foundation

/// A file that only the user of the process may read and write.
package struct PrivateFile {
    private let file: OpenFile

    /// Opens a file. Returns `nil` if the file does not exist.
    ///
    /// - Throws: ``FileError``, for example if the file is not a regular file, belongs to another user, or is
    ///   accessible to other users.
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

    /// Replaces the contents of a file. Readers see either the old or the new contents. If several calls or processes
    /// replace the file at the same time, the last one to end wins.
    ///
    /// Each call writes to its own draft, under the first free name, and locks the draft. A draft that a crash left
    /// behind is not locked; the next call that wants the name removes the draft. So there are never more drafts than
    /// simultaneous writes, nor more than ``maximumDrafts``. Where files can't be locked (``AppGroup``), a draft counts
    /// as abandoned if nothing was written to it for ``longestDraft``.
    package static func replace(_ path: String, with bytes: [UInt8]) throws(FileError) {
        let draft = try makeDraft(of: path)
        // The draft, which is a temporary file, stays locked while it is open.
        defer { withExtendedLifetime(draft) {} }
        do throws(FileError) {
            try draft.write(bytes, at: 0)
            // The umask of the process may have removed permissions that the owner needs.
            try draft.setMode(0o600)
            try draft.sync()
            // If the draft was not locked, another process may have replaced it with its own draft.
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

    /// The maximum number of drafts of one file. A further call fails.
    static let maximumDrafts = 64

    /// The time after its last write at which a draft that can't be locked counts as abandoned.
    static let longestDraft = Duration.seconds(3600)

    private static func makeDraft(of path: String) throws(FileError) -> OpenFile {
        for draft in drafts(of: path) {
            removeAbandoned(draft)
            do throws(FileError) {
                let file = try OpenFile(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
                // Before the draft was locked, another process may have removed it as abandoned.
                if takes(file) { return file }
            } catch {
                if error.code != EEXIST { throw error }
            }
        }
        throw FileError(path, "can't be replaced", reason: "\(maximumDrafts) drafts of it are being written")
    }

    /// Returns the possible names for drafts of a file, in the order in which they are tried.
    private static func drafts(of path: String) -> [String] {
        (0..<maximumDrafts).map { path + ($0 == 0 ? ".new" : ".new\($0)") }
    }

    /// Removes a draft unless it is locked.
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

    /// Locks a draft until it is closed. Returns `false` if another process has locked, moved or removed the draft.
    private static func takes(_ draft: OpenFile) -> Bool { draft.lock() && (try? draft.isInPlace()) == true }

    /// Removes a file and the drafts that crashes left behind. Does nothing if the file does not exist.
    package static func remove(_ path: String) throws(FileError) {
        for draft in drafts(of: path) { removeAbandoned(draft) }
        if try OpenFile.remove(path) { try OpenFile.syncFolder(of: path) }
    }

    /// Creates a folder that only the user can access. Its parents below `root` are created the same way. `root` and
    /// the folders above it are created with the usual permissions.
    static func makeFolder(_ path: String, below root: String) throws(FileError) {
        if path.utf8.count > root.utf8.count {
            try makeFolder((path as NSString).deletingLastPathComponent, below: root)
        } else {
            let above = (root as NSString).deletingLastPathComponent
            // If this fails, the creation of the folder itself also fails, and that error is reported.
            try? FileManager.default.createDirectory(atPath: above, withIntermediateDirectories: true)
        }
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw FileError(path, "can't be made") }
        try checkFolder(path)
    }

    /// Checks that the folder belongs to the user and that no other user can access it.
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
