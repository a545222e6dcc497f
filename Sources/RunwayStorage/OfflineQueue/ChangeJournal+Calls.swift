import Foundation
import Runway
import Synchronization

// Stores the changes of the app's calls: before a call, after it could not be sent, and at its end.
extension ChangeJournal {
    /// Stores a change before its call is sent, in case the process ends during the call. The queue does not send,
    /// count or list the change before ``store(_:_:at:)``, or before a later run.
    ///
    /// - Returns: The id of the change.
    func writeAhead(_ change: UnsentChange, _ flight: FlightID, at date: Date) async throws(StorageError) -> UUID {
        let time = time()
        let entry = try stored(change, at: date, time).row
        state.withLock { _ = $0.ahead.insert(entry.id) }
        do throws(StorageError) {
            try await run { journal throws(StorageError) in
                _ = try journal.insert(entry, at: self.place(of: flight), time, as: .ahead)
            }
        } catch {
            // The change may have been inserted before the disk failed.
            state.withLock { _ = $0.removals.insert(entry.id) }
            throw error
        }
        return entry.id
    }

    /// Removes a change that ``writeAhead(_:_:at:)`` stored. Returns at once.
    func removeWritten(_ id: UUID) {
        let isAhead = state.withLock { state in
            guard state.ahead.contains(id) else { return false }
            state.removals.insert(id)
            return true
        }
        guard isAhead else { return }
        store.begin { journal throws(StorageError) in
            try self.perform({ _ throws(StorageError) in }, on: journal, .writing, changes: false)
        } completion: { _ in
            self.noteProblem()
        }
    }

    /// Returns the position of a change. Calls that fail together are stored in the order of the calls.
    private func place(of flight: FlightID) -> Int64 {
        state.withLock { ($0.firstPlace ?? 0) &+ Int64(clamping: flight.number) }
    }

    /// Stores a change to send later, in place of the change that ``writeAhead(_:_:at:)`` stored before the call. The
    /// queue does not send the change before ``settle(_:isQueued:)``.
    ///
    /// - Returns: The change, and whether no other change of its scope was waiting.
    /// - Throws: ``StorageError/Kind/rejected`` if the app has erased the change that was stored before the call. Other
    ///   kinds if the file can't be written.
    func store(
        _ change: UnsentChange, _ flight: FlightID, at date: Date
    ) async throws(StorageError) -> (change: QueuedChange, isFirst: Bool) {
        let time = time()
        let stored = try stored(change, at: date, time)
        let (id, scope) = (stored.id, stored.row.scope)
        do throws(StorageError) {
            let result = try await run(changes: true) { journal throws(StorageError) in
                let isFirst = self.state.withLock { state in
                    state.unsettled[id] = scope
                    return state.waiting?[scope] == nil
                }
                if change.id != nil, !self.state.withLock({ $0.ahead.contains(id) }) {
                    throw StorageError(.rejected, "The change was erased during its call.")
                }
                return try journal.transaction { () throws(StorageError) in
                    if let written = try journal.entry(id) {
                        try journal.replace(written, with: stored.row.payload, time, isLimited: false, keepsAge: true)
                    } else {
                        _ = try journal.insert(stored.row, at: self.place(of: flight), time)
                    }
                    if isFirst, let wait = change.retryAfter { try journal.setPause(of: scope, wait, at: time) }
                    try Self.updateHolds(journal, scope)
                    return (QueuedChange(try journal.entry(id) ?? stored.row), isFirst)
                }
            }
            state.withLock { _ = $0.ahead.remove(id) }
            return result
        } catch {
            // The change may have been inserted before the disk failed, but its call fails.
            state.withLock { state in
                if state.unsettled[id] != nil { state.removals.insert(id) }
            }
            throw error
        }
    }

    /// Ends the call of a stored change. The change may be sent now, or it is removed because the call was cancelled.
    func settle(_ id: UUID, isQueued: Bool) async {
        if isQueued {
            _ = state.withLock { $0.unsettled.removeValue(forKey: id) }
        } else {
            // If the removal fails now, every later writing operation repeats it first.
            _ = state.withLock { $0.removals.insert(id) }
            try? await run(changes: true) { _ throws(StorageError) in }
        }
    }

    /// Returns a change in its stored form. The encoded call, which only the app reads, is left out if it makes the
    /// change too large.
    func stored(_ change: UnsentChange, at date: Date, _ time: JournalTime) throws(StorageError) -> StoredChange {
        var stored = StoredChange(change, at: date, boot: time.boot)
        stored.row.payload = try stored.bytes()
        if stored.row.payload.count > options.maximumChangeByteCount, stored.call != nil {
            stored.call = nil
            stored.row.payload = try stored.bytes()
        }
        guard stored.row.payload.count <= options.maximumChangeByteCount else {
            throw StorageError(
                .rejected,
                "The change has \(stored.row.payload.count) bytes; at most \(options.maximumChangeByteCount) are allowed."
            )
        }
        return stored
    }
}
