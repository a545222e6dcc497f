import Synchronization

import struct Foundation.UUID

/// Passes the outcomes of stored changes to the managers that made the calls. An outcome that arrives before its
/// manager listens is stored until then.
final class ChangeReports: Sendable {
    typealias Listener = @MainActor @Sendable (QueuedChange, Result<RawData, NetworkError>) -> Void

    private struct Entry {
        var listener: Listener?
        /// Reports that arrived before the manager started to listen.
        var early: [(QueuedChange, Result<RawData, NetworkError>)] = []
        var isOver = false
    }

    /// Guards the changes whose managers must be notified.
    private let entries = Mutex<[UUID: Entry]>([:])

    /// The number of changes whose managers must be notified.
    var count: Int { entries.withLock { $0.count } }

    /// Announces that a manager will listen to the reports on a change.
    func expect(_ change: UUID) { entries.withLock { $0[change] = Entry() } }

    /// Discards the reports on a change whose manager no longer listens.
    func forget(_ change: UUID) { entries.withLock { _ = $0.removeValue(forKey: change) } }

    /// Passes all reports on a change to a listener. Reports that already arrived are passed at once.
    @MainActor
    func listen(to change: UUID, _ listener: @escaping Listener) {
        let early = entries.withLock { entries in
            guard let entry = entries[change] else { return Entry().early }
            if entry.isOver { entries[change] = nil } else { entries[change] = Entry(listener: listener) }
            return entry.early
        }
        for (change, result) in early { listener(change, result) }
    }

    /// Reports the outcome of a change to its manager, or stores the report until the manager listens.
    @MainActor
    func report(_ change: QueuedChange, _ result: Result<RawData, NetworkError>, isOver: Bool) {
        let listener = entries.withLock { entries in
            guard let entry = entries[change.id] else { return nil as Listener? }
            guard let listener = entry.listener else {
                entries[change.id]?.early.append((change, result))
                entries[change.id]?.isOver = isOver
                return nil
            }
            if isOver { entries[change.id] = nil }
            return listener
        }
        listener?(change, result)
    }
}
