import Foundation
import Runway

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Ensures that one store at a time uses a folder. The system releases the lock of a process that was killed.
final class FolderLock: Sendable {
    private let descriptor: CInt

    /// - Throws: ``BundleError/Kind/inUse`` if another store has the lock; ``BundleError/Kind/storage``.
    init(_ path: String) throws(BundleError) {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw BundleError("can't be opened", at: path) }
        // The system ends an app that is suspended with a lock in the container of an app group.
        if AppGroup.contains(path) || flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
        guard errno == EWOULDBLOCK else { return }
        throw BundleError(.inUse, "Another store has \(path) locked.")
    }

    deinit { if descriptor >= 0 { close(descriptor) } }
}

extension BundleError {
    /// Creates the error of the last system call on this thread.
    init(_ problem: String, at path: String) {
        self.init(.storage, "The file \(path) \(problem): \(String(cString: strerror(errno))).")
    }
}
