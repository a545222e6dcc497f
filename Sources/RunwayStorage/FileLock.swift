import Foundation

/// A lock on an empty file, held while this object exists. The system releases it if the process is killed.
final class FileLock: Sendable {
    private let file: Int32

    /// Locks a file, which is created if it does not exist. Returns `nil` if another process, or another lock of this
    /// process, holds the lock.
    ///
    /// - Throws: ``FileFailure`` if the file can't be opened.
    init?(_ url: URL) throws {
        file = open(url.path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw FileFailure("open the lock", errno) }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else { return nil }
    }

    func release() { flock(file, LOCK_UN) }

    deinit { if file >= 0 { close(file) } }
}
