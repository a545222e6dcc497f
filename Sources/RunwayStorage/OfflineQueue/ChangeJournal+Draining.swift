import Foundation
import Runway
import Synchronization

// Claims the changes to send, and records the results of their calls.
extension ChangeJournal {
    /// Claims the first change of a scope (an account of a service), which is sent next. Returns `nil` if no change
    /// waits, or if the call of the first change has not ended.
    ///
    /// - Parameter passed: The changes to skip, with their dependents, if none is claimed already. The default is none.
    func claim(_ scope: String, passing passed: Set<UUID> = []) async throws(StorageError) -> StoredChange? {
        let time = time()
        return try await run(changes: true) { journal throws(StorageError) in
            try journal.transaction { () throws(StorageError) in
                guard var first = try self.first(of: scope, journal) else { return nil }
                if !passed.isEmpty, first.state != .claimed {
                    let entries = try journal.entries(of: scope)
                    let next = ChangeHolds.pass(passed, in: Self.holds(entries)).next
                    guard let next = entries.first(where: { $0.id == next }) else { return nil }
                    first = next
                }
                if self.state.withLock({ $0.unsettled[first.id] != nil }) { return nil }
                guard var change = StoredChange(first) else {
                    throw StorageError(.unavailable, "A change can't be read.")
                }
                // The last run may have ended during an attempt.
                if first.state == .claimed { change.mayHaveBeenSent = true }
                change.isTooOld = try self.isTooOld(change, wasSent: change.mayHaveBeenSent, journal, time)
                try journal.claim(first.id)
                change.row.state = .claimed
                self.state.withLock { $0.claimed = first.id }
                return change
            }
        }
    }

    /// Returns whether a change is so old that only the app may decide to send it.
    ///
    /// After a restart of the system, the clock of the file advances by a week at most, so the date counts, too. For a
    /// change that was never sent, the date counts only after a restart: the file may be a backup, made before the
    /// change was sent, and the server may have lost its key since.
    func isTooOld(
        _ change: StoredChange, wasSent: Bool, _ journal: Journal, _ time: JournalTime
    ) throws(StorageError) -> Bool {
        let isOfThisBoot = !time.boot.isEmpty && change.boot == time.boot
        if wasSent || !isOfThisBoot, change.keyAge(at: time.date) > options.maximumAge { return true }
        return try journal.isOverdue(change.id, at: time)
    }

    /// Returns whether a claimed change still exists. The app may have removed it.
    func has(_ change: StoredChange) -> Bool { state.withLock { $0.claimed == change.id } }

    /// Removes a change that the server has executed.
    ///
    /// - Parameter isProbe: Whether an earlier change of the scope was skipped.
    func finish(_ change: StoredChange, isProbe: Bool) async throws(StorageError) {
        try await run(changes: true) { journal throws(StorageError) in
            try journal.transaction { () throws(StorageError) in
                try journal.remove([change.id])
                if !isProbe { try journal.removeLosses(of: change.row.scope) }
                try journal.removePause(of: change.row.scope)
            }
        }
    }

    /// Stores the pause of a scope (an account of a service) for later runs, unless the changes of the scope were
    /// erased.
    func setPause(of scope: String, _ wait: Duration) async throws(StorageError) {
        let time = time()
        try await run { journal throws(StorageError) in
            if try journal.hasEntries(of: scope) { try journal.setPause(of: scope, wait, at: time) }
        }
    }

    /// Returns the remaining pauses that servers asked for in this run or an earlier one, by scope (an account of a
    /// service).
    func pauses() async throws(StorageError) -> [String: Duration] {
        let time = time()
        return try await run { journal throws(StorageError) in try journal.pauses(at: time) }
    }

    /// Counts an attempt without a response. Returns whether the change is suspected of making the server fail; see
    /// ``SuspectedEntry``.
    func noteLoss(_ change: StoredChange) async throws(StorageError) -> Bool {
        let time = time()
        return try await run { journal throws(StorageError) in
            // If the change was erased meanwhile, no setting may name its account.
            guard try journal.entry(change.id) != nil else { return false }
            return try journal.noteLoss(of: change.row.scope, change.id, at: time)
        }
    }

    /// Ends the claim of a change, so that another change can be claimed. The change then waits at its position. The
    /// server may have received it.
    ///
    /// - Parameter forgetsLosses: Whether the count of attempts without a response is reset.
    func postpone(_ change: StoredChange, forgetsLosses: Bool) async throws(StorageError) {
        let time = time()
        try await run(changes: true) { journal throws(StorageError) in
            try journal.transaction { () throws(StorageError) in
                try Self.note(.unknown, of: change.id, journal, time)
                try journal.place([change.id: nil])
                if forgetsLosses { try journal.removeLosses(of: change.row.scope) }
            }
        }
    }

    /// Releases a change after a failed attempt. The change certainly did not reach the server, so the app may edit it.
    func release(_ change: StoredChange) async throws(StorageError) {
        try await run(changes: true) { journal throws(StorageError) in try journal.place([change.id: nil]) }
    }

    /// Sets aside a change that the server refused, or that can't be sent.
    ///
    /// - Parameter effect: The effect that the change may have had.
    /// - Returns: The change in the app's form; `nil` if the app has removed it.
    func setAside(
        _ change: StoredChange, _ reason: SetAsideReason, _ effect: ChangeEffect
    ) async throws(StorageError) -> QueuedChange? {
        let time = time()
        return try await run(changes: true) { journal throws(StorageError) in
            try journal.transaction { () throws(StorageError) in
                try Self.note(effect, of: change.id, journal, time)
                return try Self.setAside([change.id], reason, journal).first
            }
        }
    }

    /// Stores the effect that a claimed change may have had, before the claim ends.
    private static func note(
        _ effect: ChangeEffect, of id: UUID, _ journal: Journal, _ time: JournalTime
    ) throws(StorageError) {
        guard let placed = try journal.entry(id), placed.state == .claimed,
            var change = StoredChange(placed)
        else { return }
        let former = change
        (change.mayHaveBeenSent, change.hasResult) = (effect != .none, effect == .failed ? true : nil)
        if change == former { return }
        // The limits do not apply, since a full queue must be able to report its changes.
        try journal.replace(placed, with: try change.bytes(), time, isLimited: false, keepsAge: true)
    }

    /// Sets aside the changes that have waited longer than allowed, and returns them.
    ///
    /// - Parameter delivered: The changes that have succeeded, but are not removed yet.
    func expire(besides delivered: Set<UUID>) async throws(StorageError) -> [QueuedChange] {
        let time = time()
        return try await run { journal throws(StorageError) in
            // While the changes can't be read, the app could not be notified which ones expired.
            if self.state.withLock({ $0.isKeyMissing }) { return [] }
            let overdue = try journal.overdue(at: time).subtracting(self.state.withLock { $0.unsettled.keys })
                .subtracting(delivered)
            for id in overdue { try Self.note(.unknown, of: id, journal, time) }
            return try Self.setAside(overdue, SetAsideReason(.expired, "It waited too long."), journal)
        }
    }

    private static func setAside(
        _ ids: Set<UUID>, _ reason: SetAsideReason, _ journal: Journal
    ) throws(StorageError) -> [QueuedChange] {
        if ids.isEmpty { return [] }
        try journal.place(Dictionary(uniqueKeysWithValues: ids.map { ($0, reason.text) }))
        for scope in try scopes(of: ids, journal) { try updateHolds(journal, scope) }
        var changes: [QueuedChange] = []
        for id in ids {
            guard let placed = try journal.entry(id) else { continue }
            changes.append(QueuedChange(placed))
        }
        return changes
    }
}

extension StoredChange {
    /// The effect that the change may have had before this attempt.
    var effectBefore: ChangeEffect { mayHaveBeenSent ? .unknown : .none }

    /// Returns the effect that the change may have had after a failed attempt.
    ///
    /// An earlier attempt may have been executed. A refusal does not exclude this: the server, or a gateway before it,
    /// may have refused the request before looking up the key. Only a refusal or failure that is the stored response to
    /// the key shows the result of the earlier attempt. A stored success that can't be read is not a refusal.
    func effect(after error: NetworkError) -> ChangeEffect {
        let outlook = error.outlook
        return switch outlook.keyEnd {
        case .failure: .failed
        case .refusal: .none
        case nil: mayHaveBeenSent || outlook.mayHaveTakenEffect ? .unknown : .none
        }
    }
}
