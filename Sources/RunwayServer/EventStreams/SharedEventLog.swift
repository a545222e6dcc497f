import Foundation
import Synchronization

/// A log that several processes append to, each with a hub of the same name.
///
/// Each hub delivers the events of all processes, in the order of the log. Offsets have to become visible in ascending
/// order: a log takes them from a row that is locked until the commit, and not from a sequence.
public protocol SharedEventLog: EventLog {
    /// Sends a text to all processes that use the log, including this one. The text may be lost.
    func signal(_ text: String) async throws
    /// Returns the texts that are sent, and an empty one whenever another process may have appended.
    func signals() -> AsyncStream<String>

    /// Begins a lease of one process, under which no member is present yet. Leases are timed by the clock of the log,
    /// and not by the clock of a process.
    ///
    /// - Parameters:
    ///   - lease: A name that was never used before.
    ///   - duration: The duration of the lease.
    /// - Throws: Any error; the hub tries again.
    func beginPresence(under lease: String, for duration: Duration) async throws
    /// Renews a lease, and records the members that have joined and left under it. Then removes members that are
    /// present under ended leases, until some of them have left.
    ///
    /// A member may be present under several leases. A join is published only if the member is present under no other
    /// lease, and so is a leave: the log appends ``PresenceChange/event(of:)`` of its epoch in the same transaction. A
    /// repeated join or leave changes nothing. A member that is present only under ended leases joins again. `changes`
    /// has at most one change for each member and topic.
    ///
    /// - Parameters:
    ///   - lease: The name of the lease.
    ///   - duration: The duration of the lease from now on.
    ///   - changes: The members that have joined and left; at most 256.
    ///   - maximumCount: The most members that leave since their lease has ended, at most 256; none is removed if it is
    ///     0.
    /// - Returns: The number of published changes, including those of ended leases; and whether it is known that no
    ///   members of ended leases are left.
    /// - Throws: Always if the lease has ended; the hub then begins another one with all its members. It does so after
    ///   any other error, too.
    @discardableResult
    func renewPresence(
        under lease: String, for duration: Duration, _ changes: [PresenceChange], leaving maximumCount: Int
    ) async throws -> (publishedCount: Int, isComplete: Bool)
    /// Returns the members that are present in a topic under any lease that has not ended, in alphabetical order.
    ///
    /// - Parameters:
    ///   - topic: The topic.
    ///   - maximumCount: The most members that are returned.
    /// - Throws: Any error.
    func present(in topic: String, upTo maximumCount: Int) async throws -> [String]
}

extension EventHub {
    /// The most events that are read in one step.
    static let maximumReadCount = 256
    /// A page of events ends with the event with which its data reach this size: 256 KiB. Only the last event may
    /// exceed it.
    public static let maximumReadByteCount = 256 << 10

    /// Whether a page may have ended by a bound, and not with the log.
    private static func isFull(_ page: [PublishedEvent]) -> Bool {
        page.count >= maximumReadCount || page.reduce(0) { $0 + $1.data.utf8.count } >= maximumReadByteCount
    }

    /// Reads and delivers events that other processes have appended, before it returns; does nothing if the log is not
    /// shared.
    ///
    /// - Returns: Whether that succeeded. `false` as soon as the connection ends or the task is cancelled, even if the
    ///   log hangs.
    func catchUp(for connection: EventConnection) async -> Bool {
        guard log is any SharedEventLog else { return true }
        connection.beginRead(at: clock.now)
        defer { connection.endRead() }
        let stop: @Sendable () -> Void = { [weak self, id = connection.id] in self?.endWait(of: id) }
        connection.onEnd(stop)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isOver, starts) = state.withLock { state in
                    // A wait that ends later finds the reader.
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

    /// Reads events of the log for a connection. If the task is cancelled, it throws `CancellationError` at once,
    /// whatever the log does.
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

    /// Reads and delivers, without waiting for it.
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
            // Events that can't be read now are read when the log wakes the hub again.
            let read = try? await log.events(after: range.last, upTo: Self.maximumReadCount)
            if let read, !read.events.isEmpty {
                let last = read.first + Int64(read.events.count) - 1
                // Another process may have removed events. Without this a client would resume first, and then get a gap.
                let first = (try? await log.range().first) ?? range.first
                deliver(read.events, EventLogRange(epoch: range.epoch, first: min(first, last + 1), last: last))
            }
            // A connection that waited before this read has everything that was stored then, however fast others append.
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
    /// Records that there may be more to read; returns whether no task reads yet.
    fileprivate mutating func wake(_ reader: CheckedContinuation<Bool, Never>, of connection: String) -> Bool {
        readers[connection] = reader
        return wake()
    }

    fileprivate mutating func wake() -> Bool {
        isWoken = true
        defer { isReading = true }
        return !isReading
    }

    /// Everything was read, unless the hub was woken meanwhile.
    fileprivate mutating func endReading(
        isFailed: Bool
    ) -> (isOver: Bool, readers: [CheckedContinuation<Bool, Never>]) {
        if isWoken, !isFailed { return (false, []) }
        isReading = false
        defer { readers = [:] }
        return (true, Array(readers.values))
    }
}

/// The task that reads the signals of a shared log, which ends with its hub.
final class StreamListening: Sendable {
    /// Guards the task.
    private let task = Mutex<Task<Void, Never>?>(nil)

    deinit { task.withLock { $0?.cancel() } }

    func begin(_ log: any SharedEventLog, _ take: @escaping @Sendable (String) -> Void) {
        task.withLock { $0 = Task { for await signal in log.signals() { take(signal) } } }
    }
}
