import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A file that only the user of the process may read, and the operations that keep it so.
final class PrivateFile {
    private let descriptor: CInt
    private let path: String

    private init(descriptor: CInt, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(descriptor) }

    /// Opens a file; `nil` where there is none.
    ///
    /// - Throws: ``TokenStoreError`` for one that is no plain file, of another owner, or open to others.
    convenience init?(reading path: String) throws {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        if descriptor < 0 {
            if errno == ENOENT { return nil }
            throw Self.error("can't be opened", path)
        }
        self.init(descriptor: descriptor, path: path)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Self.error("can't be looked at", path) }
        try Self.check(status, isFolder: false, path)
    }

    /// The bytes of the file.
    ///
    /// - Throws: ``TokenStoreError`` also for more than `maximumByteCount`.
    func read(upTo maximumByteCount: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = part.withUnsafeMutableBytes { recv in
                #if canImport(Darwin)
                    Darwin.read(descriptor, recv.baseAddress, recv.count)
                #elseif canImport(Glibc)
                    Glibc.read(descriptor, recv.baseAddress, recv.count)
                #else
                    Musl.read(descriptor, recv.baseAddress, recv.count)
                #endif
            }
            if count < 0, errno == EINTR { continue }
            if count < 0 { throw Self.error("can't be read", path) }
            if count == 0 { return bytes }
            bytes += part[..<count]
            if bytes.count > maximumByteCount { throw TokenStoreError("The file \(path) is too large to be trusted.") }
        }
    }

    /// Puts a file with these bytes in the place of the last one, at once for everyone who reads it. Of several at a time, in this
    /// process or others, the last to end stays.
    ///
    /// Each has a draft of its own, under the first name that is free, and holds it locked. What a crash left is locked by nobody, and
    /// removed by the next that comes to its name: there are never more drafts than were written at one time, nor than ``maximumDrafts``.
    static func replace(_ path: String, with bytes: [UInt8]) throws {
        let draft = try makeDraft(of: path)
        // It is locked for as long as it is open.
        try withExtendedLifetime(draft) {
            do {
                try draft.write(bytes)
                try draft.seal()
                guard rename(draft.path, path) == 0 else { throw Self.error("can't be replaced", path) }
            } catch {
                unlink(draft.path)
                throw error
            }
        }
        try syncFolder(of: path)
    }

    /// The most drafts of one file at a time; who comes when there are so many fails.
    static let maximumDrafts = 64

    private static func makeDraft(of path: String) throws -> PrivateFile {
        for draft in drafts(of: path) {
            removeForsaken(draft)
            let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            if descriptor < 0, errno == EEXIST { continue }
            guard descriptor >= 0 else { throw error("can't be made", draft) }
            let file = PrivateFile(descriptor: descriptor, path: draft)
            // Whoever took it for forsaken before it was locked removes it.
            if file.lock() { return file }
        }
        throw TokenStoreError("\(path) can't be replaced: \(maximumDrafts) drafts of it are being written.")
    }

    /// The names that drafts of a file can have, in the order in which they are taken.
    private static func drafts(of path: String) -> [String] {
        (0..<maximumDrafts).map { path + ($0 == 0 ? ".new" : ".new\($0)") }
    }

    /// Removes a draft that nobody holds.
    private static func removeForsaken(_ draft: String) {
        let descriptor = open(draft, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return }
        let file = PrivateFile(descriptor: descriptor, path: draft)
        withExtendedLifetime(file) {
            if file.lock() { unlink(draft) }
        }
    }

    /// Takes the file for oneself, until it is closed; `false` where another has it, or where it was moved or removed meanwhile.
    private func lock() -> Bool {
        // Some file systems have no locks: there everything counts as free.
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK { return false }
        var own = stat()
        var there = stat()
        guard fstat(descriptor, &own) == 0, lstat(path, &there) == 0 else { return false }
        return own.st_ino == there.st_ino && own.st_dev == there.st_dev
    }

    /// Removes a file, and what crashes left of its drafts; does nothing where there is none.
    static func remove(_ path: String) throws {
        for draft in drafts(of: path) { removeForsaken(draft) }
        if unlink(path) == 0 { return try syncFolder(of: path) }
        if errno != ENOENT, errno != ENOTDIR { throw error("can't be removed", path) }
    }

    /// Makes a folder of the user's own, and those above it down to `root`; what is above `root` is made as folders usually are.
    static func makeFolder(_ path: String, below root: String) throws {
        if path.utf8.count > root.utf8.count {
            try makeFolder((path as NSString).deletingLastPathComponent, below: root)
        } else {
            let above = (root as NSString).deletingLastPathComponent
            // What keeps them from being made keeps the folder itself from it, which is told below.
            try? FileManager.default.createDirectory(atPath: above, withIntermediateDirectories: true)
        }
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw error("can't be made", path) }
        try checkFolder(path)
    }

    /// Makes sure that a folder is the user's own.
    static func checkFolder(_ path: String) throws {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw error("can't be looked at", path) }
        try check(status, isFolder: true, path)
    }

    private func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send in
                #if canImport(Darwin)
                    Darwin.write(descriptor, send.baseAddress, send.count)
                #elseif canImport(Glibc)
                    Glibc.write(descriptor, send.baseAddress, send.count)
                #else
                    Musl.write(descriptor, send.baseAddress, send.count)
                #endif
            }
            if count < 0, errno == EINTR { continue }
            if count <= 0 { throw Self.error("can't be written", path) }
            rest = rest.dropFirst(count)
        }
    }

    /// Closes the file to others, and lets its bytes outlive a loss of power.
    private func seal() throws {
        // A mask of the process may have taken more than it should.
        guard fchmod(descriptor, 0o600) == 0, fsync(descriptor) == 0 else { throw Self.error("can't be kept", path) }
    }

    /// Lets the move of a file outlive a loss of power.
    static func syncFolder(of path: String) throws {
        let folder = (path as NSString).deletingLastPathComponent
        let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw error("can't be opened", folder) }
        defer { close(descriptor) }
        // Some file systems can't do that for folders, and say so.
        if fsync(descriptor) != 0, errno != EINVAL, errno != ENOTSUP { throw error("can't be kept", folder) }
    }

    private static func check(_ status: stat, isFolder: Bool, _ path: String) throws {
        guard status.st_mode & S_IFMT == (isFolder ? S_IFDIR : S_IFREG) else {
            throw TokenStoreError("\(path) is not a \(isFolder ? "folder" : "plain file"); it is not trusted.")
        }
        guard status.st_uid == geteuid() else {
            throw TokenStoreError("\(path) belongs to another user; it is not trusted.")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw TokenStoreError(
                "\(path) is open to others, mode \(String(status.st_mode & 0o777, radix: 8)); it is not trusted.")
        }
    }

    private static func error(_ what: String, _ path: String) -> TokenStoreError {
        TokenStoreError("\(path) \(what): \(String(cString: strerror(errno))).")
    }
}
