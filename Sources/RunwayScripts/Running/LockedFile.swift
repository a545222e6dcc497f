import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A file of mode 0600 that belongs to one runtime of one process.
struct LockedFile: ~Copyable, Sendable {
    let descriptor: CInt
    private let path: String
    private let unusable: ScriptError.Kind

    /// Opens or creates the file, and locks it.
    ///
    /// - Parameters:
    ///   - flags: Flags for `open` beside those that create a private file.
    ///   - inUse: The kind of the error if another process or runtime has the file.
    ///   - unusable: The kind of the error if the system refuses.
    init(
        _ url: URL, _ flags: CInt, inUse: ScriptError.Kind, unusable: ScriptError.Kind
    ) throws(ScriptError) {
        path = url.path(percentEncoded: false)
        self.unusable = unusable
        descriptor = open(path, flags | O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Self.failure(unusable, path, "opened") }
        guard fchmod(descriptor, 0o600) == 0 else { throw failure("changed") }
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK else { throw failure("locked") }
            throw ScriptError(inUse, "Another runtime uses the file \(path)")
        }
    }

    deinit {
        guard descriptor >= 0 else { return }
        // A child that has not yet replaced its program shares the lock, which `close` would leave to it.
        _ = flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Describes the last error of the system.
    func failure(_ operation: String) -> ScriptError { Self.failure(unusable, path, operation) }

    private static func failure(_ kind: ScriptError.Kind, _ path: String, _ operation: String) -> ScriptError {
        ScriptError(kind, "The file \(path) can't be \(operation): \(String(cString: strerror(errno)))")
    }
}
