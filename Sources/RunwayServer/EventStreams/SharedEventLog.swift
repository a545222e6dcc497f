import Foundation
import Synchronization

/// A log that several processes append to, each with a hub of the same name.
///
/// Each hub delivers the events of all processes, in the order of the log. Offsets have to become visible in ascending order: a log takes
/// them from a row that is locked until the commit, and not from a sequence.
public protocol SharedEventLog: EventLog {
    /// Sends a text to all processes that use the log, including this one. The text may be lost.
    func signal(_ text: String) async throws
    /// The texts that are sent, and an empty one whenever another process may have appended.
    func signals() -> AsyncStream<String>
}

extension EventHub {
    /// Reads and delivers what other processes have appended, as far as that is possible; does nothing if the log is not shared.
    func catchUp() async {
        guard log is any SharedEventLog else { return }
        await withCheckedContinuation { continuation in
            if state.withLock({ $0.wake(continuation) }) { Task { await readLog() } }
        }
    }

    /// Reads and delivers, without waiting for it.
    public func wake() {
        guard log is any SharedEventLog else { return }
        if state.withLock({ $0.wake(nil) }) { Task { await readLog() } }
    }

    /// Has the process that has a connection show a sign of life on it; returns `false` if this hub has no others beside it.
    func proveLifeElsewhere(_ connection: String) async -> Bool {
        guard let shared = log as? any SharedEventLog, UUID(uuidString: connection) != nil else { return false }
        do { try await shared.signal("life " + connection) } catch { return false }
        return true
    }

    func take(_ signal: String) {
        if signal.hasPrefix("life ") { connection(String(signal.dropFirst(5)))?.proveLife() } else { wake() }
    }

    private func readLog() async {
        while true {
            let range = state.withLock { state in
                state.isWoken = false
                return state.range
            }
            // What can't be read now is read when the log wakes the hub again.
            let read = try? await log.events(after: range.last, upTo: 256)
            if let read, !read.events.isEmpty {
                // Clients that have received all before are cut: the next connection says what they missed.
                if read.first > range.last + 1 { cutLive() }
                deliver(
                    read.events,
                    EventLogRange(
                        epoch: range.epoch, first: range.first, last: read.first + Int64(read.events.count) - 1))
                continue
            }
            let (isOver, readers) = state.withLock { $0.endReading(isFailed: read == nil) }
            for reader in readers { reader.resume() }
            if isOver { return }
        }
    }

    private func cutLive() { for connection in state.withLock({ Array($0.live.values) }) { connection.finish(.slow) } }
}

extension EventHub.State {
    /// Records that there may be more to read; returns whether no task reads yet.
    fileprivate mutating func wake(_ reader: CheckedContinuation<Void, Never>?) -> Bool {
        if let reader { readers.append(reader) }
        isWoken = true
        defer { isReading = true }
        return !isReading
    }

    /// Everything was read, unless the hub was woken meanwhile.
    fileprivate mutating func endReading(
        isFailed: Bool
    ) -> (isOver: Bool, readers: [CheckedContinuation<Void, Never>]) {
        if isWoken, !isFailed { return (false, []) }
        isReading = false
        defer { readers = [] }
        return (true, readers)
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
