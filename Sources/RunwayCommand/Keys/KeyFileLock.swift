import Foundation

#if os(Linux)
    import CDispatch
#endif

/// Lets one process at a time change a file of keys.
///
/// The file itself is locked. A change replaces the file, so that a process that has waited for the lock of the former
/// file opens it again.
final class KeyFileLock: Sendable {
    private let descriptor: Int32

    /// The longest wait for other processes.
    static let maximumWait = Duration.seconds(10)
    private static let pause = 0.02

    /// Locks the file at a path until this value is released.
    ///
    /// - Throws: ``CommandFailure`` if the file can't be opened, or if another process has it for longer than
    ///   `maximumWait`.
    init(path: String, upTo maximumWait: Duration = maximumWait) throws(CommandFailure) {
        let end = ContinuousClock.now + maximumWait
        while true {
            // Without O_NONBLOCK, a named pipe would be waited for.
            let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard descriptor >= 0 else {
                throw CommandFailure(
                    "The key file \"\(path)\" can't be used: the file cannot be opened, or is a symbolic link.")
            }
            // Where a file system has no locks, every file counts as unlocked.
            let isLocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
            if isLocked, Self.isInPlace(descriptor, path) {
                self.descriptor = descriptor
                return
            }
            close(descriptor)
            if isLocked { continue }
            guard ContinuousClock.now < end else {
                throw CommandFailure("The key file \"\(path)\" is being changed by another process; try again.")
            }
            Thread.sleep(forTimeInterval: Self.pause)
        }
    }

    deinit { close(descriptor) }

    private static func isInPlace(_ descriptor: Int32, _ path: String) -> Bool {
        var (own, present) = (stat(), stat())
        return fstat(descriptor, &own) == 0 && lstat(path, &present) == 0 && own.st_dev == present.st_dev
            && own.st_ino == present.st_ino
    }
}
