import Foundation

#if os(Linux)
    import CDispatch
#endif

/// Lets only one process at a time change a file of keys.
///
/// The lock belongs to the file itself, and a change replaces the file. A process that waited for the lock therefore
/// opens the path again if the file was replaced.
final class KeyFileLock: Sendable {
    private let descriptor: Int32

    static let maximumWait = Duration.seconds(10)
    private static let pause = 0.02

    /// Locks the file at a path until this object is released.
    ///
    /// - Throws: ``CommandFailure`` if the file can't be opened, or another process holds the lock for longer than
    ///   `maximumWait`.
    init(path: String, upTo maximumWait: Duration = maximumWait) throws(CommandFailure) {
        let end = ContinuousClock.now + maximumWait
        while true {
            // Without O_NONBLOCK, opening a named pipe would block.
            let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard descriptor >= 0 else {
                throw CommandFailure(
                    "The key file \"\(path)\" can't be used: the file cannot be opened, or is a symbolic link.")
            }
            // If the file system does not support locks, this process counts as the holder of the lock.
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
