import Foundation
import Synchronization

/// A log that several processes append to, each with a hub of the same name.
///
/// Each hub delivers the events of all processes, in the order of the log. Offsets must become visible in ascending
/// order. A log in a database must therefore take the offsets from a row that is locked until the commit, not from a
/// sequence.
public protocol SharedEventLog: EventLog {
    /// Sends a text to all processes that use the log, including this one. Delivery is not guaranteed.
    func signal(_ text: String) async throws
    /// Returns a stream of the texts that processes send. It also yields an empty text whenever another process may
    /// have appended events.
    func signals() -> AsyncStream<String>

    /// Creates a lease of one process, under which no member is present yet. Leases expire by the clock of the log, not
    /// by the clock of a process.
    ///
    /// - Parameters:
    ///   - lease: A name that was never used before.
    ///   - duration: The time after which the lease expires.
    /// - Throws: Any error. The hub retries.
    func beginPresence(under lease: String, for duration: Duration) async throws
    /// Renews a lease, and records the members that joined and left under it. Then removes members of expired leases,
    /// of whom at most `maximumCount` leave.
    ///
    /// A member may be present under several leases. A join or leave is published only if the member is present under
    /// no other lease: the log appends ``PresenceChange/event(of:)`` with its epoch in the same transaction. A repeated
    /// join or leave has no effect. A member that is present only under expired leases joins again. `changes` has at
    /// most one change for each member and topic.
    ///
    /// - Parameters:
    ///   - lease: The name of the lease.
    ///   - duration: The new duration of the lease, from now on.
    ///   - changes: The members that joined and left; at most 256.
    ///   - maximumCount: The maximum number of members that leave because their lease has expired, at most 256. With 0,
    ///     no member of an expired lease is removed.
    /// - Returns: The number of published changes, including those of expired leases; and whether it is known that no
    ///   members of expired leases remain.
    /// - Throws: An error if the lease has expired, or any other error. After an error, the hub creates another lease
    ///   and records all its members.
    @discardableResult
    func renewPresence(
        under lease: String, for duration: Duration, _ changes: [PresenceChange], leaving maximumCount: Int
    ) async throws -> (publishedCount: Int, isComplete: Bool)
    /// Returns the members that are present in a topic under any unexpired lease, in alphabetical order.
    ///
    /// - Parameters:
    ///   - topic: The topic.
    ///   - maximumCount: The maximum number of returned members.
    /// - Throws: Any error.
    func present(in topic: String, upTo maximumCount: Int) async throws -> [String]
}

extension EventHub {
    static let maximumReadCount = 256
    /// The size limit of a page's data: 256 KiB. A page ends with the event that reaches the limit, so only the last
    /// event may exceed it.
    public static let maximumReadByteCount = 256 << 10

    /// Returns whether a page may have ended at a limit rather than at the end of the log.
    private static func isFull(_ page: [PublishedEvent]) -> Bool {
        page.count >= maximumReadCount || page.reduce(0) { $0 + $1.data.utf8.count } >= maximumReadByteCount
    }

    /// Reads and delivers the events that other processes have appended. Does nothing if the log is not shared.
    ///
    /// - Returns: Whether the read succeeded. `false` as soon as the connection ends or the task is cancelled, even if
    ///   the log hangs.
    func catchUp(for connection: EventConnection) async -> Bool {
        guard log is any SharedEventLog else { return true }
        connection.beginRead(at: clock.now)
        defer { connection.endRead() }
        let stop: @Sendable () -> Void = { [weak self, id = connection.id] in self?.endWait(of: id) }
        connection.onEnd(stop)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isOver, starts) = state.withLock { state in
                    // If the connection ends after this check, its end finds the stored continuation and resumes it.
                    if Task.isCancelled || connection.end != nil { return (true, false) }
                    return (false, state.wake(continuation, of: connection.id))
                }
                if isOver { continuation.resume(returning: false) }
                if starts { Task { await readLog() } }
            }
        } onCancel: {
            stop()
        }
    }

    private func endWait(of connection: String) {
        state.withLock { $0.readers.removeValue(forKey: connection) }?.resume(returning: false)
    }

    /// Reads events of the log for a connection. If the task is cancelled, it throws `CancellationError` immediately,
    /// even if the log hangs.
    func events(
        after offset: Int64, for connection: EventConnection
    ) async throws -> (first: Int64, events: [PublishedEvent]) {
        connection.beginRead(at: clock.now)
        defer { connection.endRead() }
        state.withLock { $0.readCount += 1 }
        return try await withAbandonment { [self] in
            defer { state.withLock { $0.readCount -= 1 } }
            return try await log.events(after: offset, upTo: Self.maximumReadCount)
        }
    }

    /// Starts reading and delivering the events of other processes, and returns immediately.
    public func wake() {
        guard log is any SharedEventLog else { return }
        if state.withLock({ $0.wake() }) { Task { await readLog() } }
    }

    private func readLog() async {
        while true {
            let (range, waiting) = state.withLock { state in
                state.isWoken = false
                return (state.range, Array(state.readers.keys))
            }
            // If the read fails, it is repeated when the log wakes the hub again.
            let read = try? await log.events(after: range.last, upTo: Self.maximumReadCount)
            if let read, !read.events.isEmpty {
                let last = read.first + Int64(read.events.count) - 1
                // Another process may have removed events. With an outdated range, a client would first resume and then
                // find a gap.
                let first = (try? await log.range().first) ?? range.first
                deliver(read.events, EventLogRange(epoch: range.epoch, first: min(first, last + 1), last: last))
            }
            // A connection that began to wait before this read has received all events that were stored when the read
            // began, even if other processes append faster than this hub reads.
            if let read, !Self.isFull(read.events) {
                for connection in waiting {
                    state.withLock { $0.readers.removeValue(forKey: connection) }?.resume(returning: true)
                }
            }
            if let read, !read.events.isEmpty { continue }
            let (isOver, readers) = state.withLock { $0.endReading(isFailed: read == nil) }
            for reader in readers { reader.resume(returning: read != nil) }
            if isOver { return }
        }
    }
}

extension EventHub.State {
    /// Records that there may be more to read. Returns `true` if no task is reading; the caller must then read.
    fileprivate mutating func wake(_ reader: CheckedContinuation<Bool, Never>, of connection: String) -> Bool {
        readers[connection] = reader
        return wake()
    }

    fileprivate mutating func wake() -> Bool {
        isWoken = true
        defer { isReading = true }
        return !isReading
    }

    /// Ends the reading, unless the hub was woken in between and must read again. Returns whether the reading ended,
    /// and the connections to resume.
    fileprivate mutating func endReading(
        isFailed: Bool
    ) -> (isOver: Bool, readers: [CheckedContinuation<Bool, Never>]) {
        if isWoken, !isFailed { return (false, []) }
        isReading = false
        defer { readers = [:] }
        return (true, Array(readers.values))
    }
}

/// The task that reads the signals of a shared log. It is cancelled when its hub is released.
final class StreamListening: Sendable {
    /// Guards the task.
    private let task = Mutex<Task<Void, Never>?>(nil)

    deinit { task.withLock { $0?.cancel() } }

    func begin(_ log: any SharedEventLog, _ take: @escaping @Sendable (String) -> Void) {
        // Called here: no signal is lost before the task runs.
        let signals = log.signals()
        task.withLock { $0 = Task { for await signal in signals { take(signal) } } }
    }
}
