import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// An open file and the operations on it, each at an explicit offset. It is closed when the last reference to it is
/// released.
///
/// Every operation may wait for the disk: see ``DiskQueue``.
final class OpenFile: Sendable {
    /// The system's metadata of a file.
    struct Metadata: Equatable, Sendable {
        var byteCount: Int
        /// The time at which its bytes were last changed, in nanoseconds since 1970.
        var modified: Int64
        var device: UInt64
        var number: UInt64
        var mode: mode_t
        var owner: uid_t

        var isPlainFile: Bool { mode & S_IFMT == S_IFREG }
        var isFolder: Bool { mode & S_IFMT == S_IFDIR }
        var isLink: Bool { mode & S_IFMT == S_IFLNK }

        /// Whether the file belongs to the user, and no other user may read or write it.
        var isPrivate: Bool { owner == geteuid() && mode & 0o077 == 0 }

        /// Returns whether both belong to the same file, whatever its contents.
        func isSameFile(as other: Metadata) -> Bool { device == other.device && number == other.number }

        /// Returns whether both belong to the same file with the same bytes, as far as the system reports.
        func isUnchanged(since other: Metadata) -> Bool {
            isSameFile(as: other) && byteCount == other.byteCount && modified == other.modified
        }

        fileprivate init(_ status: stat, at path: String) throws(FileError) {
            // On some watches the largest `Int` is 2 GiB.
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
    ///   - flags: The flags of `open`; the file is not passed on to programs that the process starts.
    ///   - mode: The permissions of a created file.
    init(_ path: String, _ flags: CInt, mode: mode_t = 0o600) throws(FileError) {
        let descriptor = open(path, flags | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw FileError(path, "can't be opened") }
        self.path = path
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Opens a file; returns `nil` if it does not exist.
    static func existing(_ path: String, _ flags: CInt) throws(FileError) -> OpenFile? {
        do throws(FileError) {
            return try OpenFile(path, flags)
        } catch {
            if error.code == ENOENT { return nil }
            throw error
        }
    }

    /// Returns the present metadata of the file.
    func status() throws(FileError) -> Metadata {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileError(path, "can't be looked at") }
        return try Metadata(status, at: path)
    }

    /// Returns the metadata of the file at a path, of a link itself and not of its target; `nil` if there is no file.
    static func status(at path: String) throws(FileError) -> Metadata? {
        var status = stat()
        if lstat(path, &status) == 0 { return try Metadata(status, at: path) }
        if errno == ENOENT { return nil }
        throw FileError(path, "can't be looked at")
    }

    /// Returns whether the file is still at its path; another process may have moved or removed it.
    func isInPlace() throws(FileError) -> Bool { try Self.status(at: path)?.isSameFile(as: try status()) == true }

    /// Reads at most `count` bytes at an offset; empty at the end.
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

    /// Writes all bytes at an offset.
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

    /// Truncates the file.
    func truncate(to byteCount: Int) throws(FileError) {
        guard ftruncate(descriptor, off_t(byteCount)) == 0 else { throw FileError(path, "can't be cut off") }
    }

    /// Makes the written bytes survive a loss of power.
    func sync() throws(FileError) {
        #if canImport(Darwin)
            // `fsync` there leaves the bytes in the drive's own memory. Some file systems support only that.
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
        #endif
        guard fsync(descriptor) == 0 else { throw FileError(path, "can't be stored") }
    }

    /// Changes the access rights of the file.
    func setMode(_ mode: mode_t) throws(FileError) {
        guard fchmod(descriptor, mode) == 0 else { throw FileError(path, "can't be given its permissions") }
    }

    /// Makes the move or the removal of a file survive a loss of power.
    static func syncFolder(of path: String) throws(FileError) {
        do throws(FileError) {
            try OpenFile((path as NSString).deletingLastPathComponent, O_RDONLY).sync()
        } catch {
            // Some file systems don't support that for folders, and report it.
            if error.code != EINVAL, error.code != ENOTSUP { throw error }
        }
    }

    /// Removes a file; returns `false` if it did not exist.
    @discardableResult
    static func remove(_ path: String) throws(FileError) -> Bool {
        if unlink(path) == 0 { return true }
        if errno == ENOENT || errno == ENOTDIR { return false }
        throw FileError(path, "can't be removed")
    }

    /// Whether files at this path are locked at all; see ``AppGroup``.
    var isLockable: Bool { !AppGroup.contains(path) }

    /// Locks the file for as long as it is open here; returns `false` if another process, or another opening, has
    /// locked it.
    func lock() -> Bool {
        // Some file systems have no locks: every file on them counts as unlocked, like a file that is not lockable.
        !isLockable || flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
    }

    /// Unlocks the file while it stays open.
    func unlock() { _ = flock(descriptor, LOCK_UN) }
}
