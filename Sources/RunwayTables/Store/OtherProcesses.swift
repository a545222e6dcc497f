import Dispatch
import Foundation
import GRDB
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Notices commits of other processes by the system's events of the write-ahead log, and makes observations fetch
/// again.
final class OtherProcesses: Sendable {
    /// Guards the source of events; `nil` after `stop()`, or if the system has none.
    private let source: Mutex<(any DispatchSourceProtocol)?>
    private let version: FileVersion
    /// Guards the registration for the end of a suspension, in which no event can be handled.
    private let resumption: Mutex<(any NSObjectProtocol)?>

    init(of url: URL, _ queue: DatabaseQueue) {
        let version = FileVersion(queue)
        source = Mutex(Self.makeSource(path: url.path + "-wal") { version.notice() })
        // Weak: the notification center can't release the queue, which would call the center.
        resumption = Mutex(
            NotificationCenter.default.addObserver(forName: Database.resumeNotification, object: nil, queue: nil) {
                [weak version] _ in version?.notice()
            })
        self.version = version
    }

    deinit { stop() }

    func stop() {
        source.withLock { $0.take()?.cancel() }
        if let resumption = resumption.withLock({ $0.take() }) { NotificationCenter.default.removeObserver(resumption) }
    }

    private static func makeSource(
        path: String, onChange: @escaping @Sendable () -> Void
    ) -> sending (any DispatchSourceProtocol)? {
        #if canImport(Darwin)
            let file = open(path, O_EVTONLY | O_CLOEXEC)
            guard file >= 0 else { return nil }
            let source = DispatchSource.makeFileSystemObjectSource(fileDescriptor: file, eventMask: [.write, .extend])
            source.setEventHandler { onChange() }
        #else
            let file = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
            guard file >= 0 else { return nil }
            guard inotify_add_watch(file, path, UInt32(IN_MODIFY)) >= 0 else {
                close(file)
                return nil
            }
            let source = DispatchSource.makeReadSource(fileDescriptor: file)
            source.setEventHandler {
                // Reads and ignores the details of the events.
                var buffer = [UInt8](repeating: 0, count: 4096)
                while read(file, &buffer, buffer.count) > 0 {}
                onChange()
            }
        #endif
        source.setCancelHandler { close(file) }
        source.resume()
        return source
    }
}

/// The version of a file. Commits of other connections change it; commits of this connection do not.
private final class FileVersion: Sendable {
    private let queue: DatabaseQueue
    /// Guards the version that was last noticed.
    private let version = Mutex<Int?>(nil)
    /// Whether a check of the version waits for the connection, or for the transaction of another process.
    private let isPending = Atomic(false)

    init(_ queue: DatabaseQueue) {
        self.queue = queue
        queue.asyncWriteWithoutTransaction { [self] in _ = isChanged($0) }
    }

    /// Makes observations fetch again if another process has committed.
    func notice() {
        // The check that waits covers this event, too.
        if !isPending.exchange(true, ordering: .sequentiallyConsistent) { check() }
    }

    private func check() {
        queue.asyncWriteWithoutTransaction { [self] database in
            isPending.store(false, ordering: .sequentiallyConsistent)
            if isChanged(database) { fetchAgain(database) }
            do {
                try fetchAgainAfterCommit(database)
            } catch DatabaseError.SQLITE_BUSY {
                // Reads of this process run while the other one writes.
                if isPending.exchange(true, ordering: .sequentiallyConsistent) { return }
                DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(50)) { [weak self] in self?.check() }
            } catch {
                // A suspended app checks again when it resumes. Reads and writes throw any other error.
            }
        }
    }

    /// Makes observations fetch again if a commit becomes visible when its writer releases the lock, which is after the
    /// event of the commit.
    ///
    /// - Throws: `SQLITE_BUSY`, at once, if another connection has the lock.
    private func fetchAgainAfterCommit(_ database: Database) throws {
        let timeout = try Int.fetchOne(database, sql: "PRAGMA busy_timeout") ?? 0
        try database.execute(sql: "PRAGMA busy_timeout = 0")
        defer { try? database.execute(sql: "PRAGMA busy_timeout = \(timeout)") }
        try database.inTransaction(.immediate) {
            if isChanged(database) { try database.notifyChanges(in: .fullDatabase) }
            return .commit
        }
    }

    private func fetchAgain(_ database: Database) {
        try? database.inTransaction(.deferred) {
            try database.notifyChanges(in: .fullDatabase)
            return .commit
        }
    }

    /// Whether another connection has committed since the last call.
    private func isChanged(_ database: Database) -> Bool {
        guard let new = try? Int.fetchOne(database, sql: "PRAGMA data_version") else { return false }
        return version.withLock { version in
            defer { version = new }
            return version != new
        }
    }
}
