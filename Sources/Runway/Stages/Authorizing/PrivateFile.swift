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

    /// Puts a file with these bytes in the place of the last one, at once for everyone who reads it.
    static func replace(_ path: String, with bytes: [UInt8]) throws {
        let draft = path + ".new"
        // What a crash left here is nobody's.
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw error("can't be made", draft) }
        do {
            let file = PrivateFile(descriptor: descriptor, path: draft)
            try file.write(bytes)
            try file.seal()
            guard rename(draft, path) == 0 else { throw error("can't be replaced", path) }
        } catch {
            unlink(draft)
            throw error
        }
        try syncFolder(of: path)
    }

    /// Removes a file; does nothing where there is none.
    static func remove(_ path: String) throws {
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
