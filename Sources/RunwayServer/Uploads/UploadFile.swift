import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// An open file with the content of an upload. Releasing the last reference closes it. Every operation may block on the
/// disk.
final class UploadFile: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let operation: String
        let code: CInt

        var description: String { "\(operation): \(String(cString: strerror(code)))" }
    }

    private let descriptor: CInt

    /// Opens a file. If the flags permit creation, a new file has mode 0600. Symbolic links are not followed.
    init(_ path: String, _ flags: CInt) throws(Failure) {
        descriptor = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Failure(operation: "open", code: errno) }
    }

    deinit { close(descriptor) }

    /// Returns the size of a file, or `nil` if the path names no regular file.
    static func byteCount(at path: String) -> Int? {
        guard let status = try? FileManager.default.attributesOfItem(atPath: path),
            status[.type] as? FileAttributeType == .typeRegular
        else { return nil }
        return (status[.size] as? NSNumber)?.intValue
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(Failure) {
        var start = 0
        while start < bytes.count {
            let written = pwrite(
                descriptor, bytes.baseAddress.map { $0 + start }, bytes.count - start, off_t(offset + start))
            if written > 0 {
                start += written
            } else if written == 0 || errno != EINTR {
                throw Failure(operation: "write", code: errno)
            }
        }
    }

    /// Reads at most `count` bytes at an offset. The result is empty at the end of the file.
    func read(_ count: Int, at offset: Int) throws(Failure) -> [UInt8] {
        while true {
            var received = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
                received = pread(descriptor, buffer.baseAddress, count, off_t(offset))
                initializedCount = max(received, 0)
            }
            if received >= 0 { return bytes }
            if errno != EINTR { throw Failure(operation: "read", code: errno) }
        }
    }

    /// Replaces a small file atomically.
    static func replace(_ path: String, with bytes: [UInt8]) throws(Failure) {
        let draft = path + ".new"
        unlink(draft)
        let file = try UploadFile(draft, O_WRONLY | O_CREAT | O_EXCL)
        var failure: Failure?
        bytes.withUnsafeBytes { buffer in
            do throws(Failure) { try file.write(buffer, at: 0) } catch { failure = error }
        }
        if let failure { throw failure }
        guard rename(draft, path) == 0 else { throw Failure(operation: "rename", code: errno) }
    }

    /// Creates a folder that only its user can access.
    ///
    /// - Throws: ``Failure``, for example if others may read or write an existing folder.
    static func makeFolder(_ path: String) throws(Failure) {
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw Failure(operation: "mkdir", code: errno) }
        let status = try? FileManager.default.attributesOfItem(atPath: path)
        guard let status, status[.type] as? FileAttributeType == .typeDirectory,
            ((status[.posixPermissions] as? NSNumber)?.intValue ?? 0o777) & 0o077 == 0,
            (status[.ownerAccountID] as? NSNumber)?.uint32Value == geteuid()
        else {
            throw Failure(operation: "a folder that only the user can access is required", code: EPERM)
        }
    }

    static func remove(_ path: String) { unlink(path) }

    /// Opens a file, records that it is in use, and locks it against ``removeUnused(_:since:)`` until it is closed.
    ///
    /// - Returns: The file and its size; `nil` if it is absent, or no regular file.
    static func use(_ path: String) throws(Failure) -> (file: UploadFile, byteCount: Int)? {
        do throws(Failure) {
            let file = try UploadFile(path, O_RDONLY)
            while flock(file.descriptor, LOCK_SH) != 0 {
                if errno != EINTR { throw Failure(operation: "flock", code: errno) }
            }
            guard futimens(file.descriptor, nil) == 0 else { throw Failure(operation: "futimens", code: errno) }
            // It may have been removed before it was locked.
            return byteCount(at: path).map { (file, $0) }
        } catch {
            if error.code == ENOENT { return nil }
            throw error
        }
    }

    /// Removes a file that is not in use, and was not used since a time. The lock lets no ``use(_:)`` begin meanwhile.
    static func removeUnused(_ path: String, since time: Date) {
        guard let file = try? UploadFile(path, O_RDONLY) else { return }
        withExtendedLifetime(file) {
            if flock(file.descriptor, LOCK_EX | LOCK_NB) == 0, isUnused(path, since: time) { unlink(path) }
        }
    }

    /// Whether a file exists, and was not used since a time.
    static func isUnused(_ path: String, since time: Date) -> Bool {
        let date = try? FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
        return date.map { $0 <= time } ?? false
    }

    /// Waits until the written bytes are on the drive.
    func sync() throws(Failure) {
        guard fsync(descriptor) == 0 else { throw Failure(operation: "fsync", code: errno) }
    }

    /// Renames a whole file within its folder, and waits until the name is on the drive.
    static func move(_ draft: String, to path: String) throws(Failure) {
        guard rename(draft, path) == 0 else { throw Failure(operation: "rename", code: errno) }
        try UploadFile((path as NSString).deletingLastPathComponent, O_RDONLY).sync()
    }

    /// An id that the operating system changes at every boot; `nil` if the system reports none. Bytes written before
    /// the last boot may have been lost in a power failure.
    static var bootSession: String? {
        #if canImport(Darwin)
            var bytes = [UInt8](repeating: 0, count: 64)
            var count = bytes.count
            guard sysctlbyname("kern.bootsessionuuid", &bytes, &count, nil, 0) == 0 else { return nil }
            return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        #else
            guard let file = try? UploadFile("/proc/sys/kernel/random/boot_id", O_RDONLY),
                let bytes = try? file.read(64, at: 0), !bytes.isEmpty
            else { return nil }
            return String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self)
        #endif
    }
}
