import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// An open file with operations at explicit offsets. The file is closed when the last reference is released.
///
/// Every operation may wait for the disk: see ``DiskQueue``.
final class OpenFile: Sendable {
    struct Metadata: Equatable, Sendable {
        var byteCount: Int
        /// The time of the last modification, in nanoseconds since 1970.
        var modified: Int64
        var device: UInt64
        var number: UInt64
        var mode: mode_t
        var owner: uid_t

        var isPlainFile: Bool { mode & S_IFMT == S_IFREG }
        var isFolder: Bool { mode & S_IFMT == S_IFDIR }
        var isLink: Bool { mode & S_IFMT == S_IFLNK }

        /// Whether the file belongs to the user and no other user may read or write it.
        var isPrivate: Bool { owner == geteuid() && mode & 0o077 == 0 }

        /// Returns whether both values describe the same file, even if its contents differ.
        func isSameFile(as other: Metadata) -> Bool { device == other.device && number == other.number }

        /// Returns whether both values describe the same file, and the system reports no change of its bytes.
        func isUnchanged(since other: Metadata) -> Bool {
            isSameFile(as: other) && byteCount == other.byteCount && modified == other.modified
        }

        fileprivate init(_ status: stat, at path: String) throws(FileError) {
            // On some watches `Int.max` is 2 GiB, so the size of a larger file does not fit.
            guard let byteCount = Int(exactly: status.st_size) else {
                throw FileError(
                    path, "can't be used", reason: "it has more bytes than this system's programs can count")
            }
            self.byteCount = byteCount
            #if canImport(Darwin)
                let time = status.st_mtimespec
            #else
                let time = status.st_mtim
            #endif
            modified = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
            device = UInt64(truncatingIfNeeded: status.st_dev)
            number = UInt64(truncatingIfNeeded: status.st_ino)
            mode = mode_t(status.st_mode)
            owner = status.st_uid
        }
    }

    let path: String
    private let descriptor: CInt

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - flags: The flags for `open`. `O_CLOEXEC` is added, so that child processes do not inherit the file.
    ///   - mode: The permissions of a created file.
    init(_ path: String, _ flags: CInt, mode: mode_t = 0o600) throws(FileError) {
        let descriptor = open(path, flags | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw FileError(path, "can't be opened") }
        self.path = path
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Opens a file. Returns `nil` if the file does not exist.
    static func existing(_ path: String, _ flags: CInt) throws(FileError) -> OpenFile? {
        do throws(FileError) {
            return try OpenFile(path, flags)
        } catch {
            if error.code == ENOENT { return nil }
            throw error
        }
    }

    func status() throws(FileError) -> Metadata {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileError(path, "can't be looked at") }
        return try Metadata(status, at: path)
    }

    /// Returns the metadata of the file at a path, or `nil` if there is no file. A symbolic link is not followed.
    static func status(at path: String) throws(FileError) -> Metadata? {
        var status = stat()
        if lstat(path, &status) == 0 { return try Metadata(status, at: path) }
        if errno == ENOENT { return nil }
        throw FileError(path, "can't be looked at")
    }

    /// Returns whether the path still leads to this file. Another process may have moved or removed it.
    func isInPlace() throws(FileError) -> Bool { try Self.status(at: path)?.isSameFile(as: try status()) == true }

    /// Reads at most `count` bytes at an offset. Returns no bytes at the end of the file.
    func read(_ count: Int, at offset: Int) throws(FileError) -> [UInt8] {
        while true {
            var received = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
                received = pread(descriptor, buffer.baseAddress, count, off_t(offset))
                initializedCount = max(received, 0)
            }
            if received >= 0 { return bytes }
            if errno != EINTR { throw FileError(path, "can't be read") }
        }
    }

    func write(_ bytes: [UInt8], at offset: Int) throws(FileError) {
        var start = 0
        while start < bytes.count {
            let written = bytes.withUnsafeBytes { buffer in
                pwrite(descriptor, buffer.baseAddress.map { $0 + start }, buffer.count - start, off_t(offset + start))
            }
            if written > 0 {
                start += written
            } else if written == 0 || errno != EINTR {
                throw FileError(path, "can't be written")
            }
        }
    }

    func truncate(to byteCount: Int) throws(FileError) {
        guard ftruncate(descriptor, off_t(byteCount)) == 0 else { throw FileError(path, "can't be cut off") }
    }

    /// Flushes the written bytes to the storage device, so that they survive a power failure.
    func sync() throws(FileError) {
        #if canImport(Darwin)
            // On Apple's systems, `fsync` leaves the bytes in the drive's cache. Some file systems support only
            // `fsync`.
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
        #endif
        guard fsync(descriptor) == 0 else { throw FileError(path, "can't be stored") }
    }

    func setMode(_ mode: mode_t) throws(FileError) {
        guard fchmod(descriptor, mode) == 0 else { throw FileError(path, "can't be given its permissions") }
    }

    /// Flushes the folder of `path`, so that a move or removal of the file survives a power failure.
    static func syncFolder(of path: String) throws(FileError) {
        do throws(FileError) {
            try OpenFile((path as NSString).deletingLastPathComponent, O_RDONLY).sync()
        } catch {
            // Some file systems do not support syncing a folder and report one of these errors.
            if error.code != EINVAL, error.code != ENOTSUP { throw error }
        }
    }

    /// Removes a file. Returns `false` if the file did not exist.
    @discardableResult
    static func remove(_ path: String) throws(FileError) -> Bool {
        if unlink(path) == 0 { return true }
        if errno == ENOENT || errno == ENOTDIR { return false }
        throw FileError(path, "can't be removed")
    }

    /// Whether files at this path can be locked; see ``AppGroup``.
    var isLockable: Bool { !AppGroup.contains(path) }

    /// Locks the file until it is closed here. Returns `false` if the file is already locked, by another process or
    /// through another open file of this process.
    func lock() -> Bool {
        // If the file system does not support locks, or the file can't be locked, locking counts as successful.
        !isLockable || flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
    }

    func unlock() { _ = flock(descriptor, LOCK_UN) }
}
