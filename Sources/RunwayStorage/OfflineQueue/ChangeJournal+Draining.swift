import Foundation
import Runway
import Synchronization

// What the drainer does.
extension ChangeJournal {
    /// Claims the first change of a scope; `nil` if none waits, or its call has not ended.
    ///
    /// - Parameter passed: Changes that are passed over, with those that depend on them, unless one is claimed already. The default is none.
    func claim(_ scope: String, passing passed: Set<UUID> = []) async throws(StorageError) -> Claim? {
        let time = time()
        return try await run(changes: true) { journal throws(StorageError) in
            guard var first = try self.first(of: scope, journal) else { return nil }
            var skipped: Set<UUID> = []
            if !passed.isEmpty, try journal.entry(first)?.state != .claimed {
                let found = ChangeHolds.pass(passed, in: Self.holds(try journal.entries(of: scope)))
                guard let next = found.next else { return nil }
                (first, skipped) = (next, found.skipped)
            }
            if self.state.withLock({ $0.unsettled[first] != nil }) { return nil }
            let placed = try journal.entry(first)
            if let placed, placed.state == .waiting { try self.dateKey(of: placed, journal, time) }
            guard
                let batch = try journal.claim(scope, maximumCount: 1, maximumByteCount: .max, skipping: skipped),
                let entry = batch.entries.first?.entry
            else { return nil }
            guard let change = StoredChange(entry.payload) else {
                throw StorageError(.unavailable, "A change can't be read.")
            }
            let wasSent = placed?.state == .claimed || change.mayHaveBeenSent
            let isForgotten = try wasSent ? self.isForgotten(change, entry.id, journal, time) : false
            return Claim(
                id: entry.id, change: change, batch: batch, mayHaveBeenSent: wasSent, isForgotten: isForgotten)
        }
    }

    /// Stores that the key of an old change is not older than now: no server has received it.
    private func dateKey(
        of placed: PlacedEntry, _ journal: Journal, _ time: JournalTime
    ) throws(StorageError) {
        guard var change = StoredChange(placed.entry.payload), !change.mayHaveBeenSent,
            change.keyAge(at: time.date) > options.maximumAge
        else { return }
        change.keyDate = time.date
        try journal.replace(placed, with: try change.bytes(), time, isLimited: false, keepsAge: true)
    }

    /// Whether a server that may have received a change may have forgotten its key.
    ///
    /// After the system was started, the clock of the file moves by a week at most, so that the date counts, too.
    func isForgotten(
        _ change: StoredChange, _ id: UUID, _ journal: Journal, _ time: JournalTime
    ) throws(StorageError) -> Bool {
        if change.keyAge(at: time.date) > options.maximumAge { return true }
        return try journal.isOverdue(id, at: time)
    }

    /// Whether a change that was claimed is there. The app may have removed it.
    func has(_ claim: Claim) async throws(StorageError) -> Bool {
        try await run(.reading) { journal throws(StorageError) in try journal.entry(claim.id) != nil }
    }

    /// The server has the change.
    ///
    /// - Parameter isProbe: Whether an earlier change of the scope was passed over.
    func finish(_ claim: Claim, isProbe: Bool) async throws(StorageError) {
        try await run(changes: true) { journal throws(StorageError) in
            _ = try journal.acknowledge(claim.batch, [claim.id])
            if !isProbe { try journal.removeLosses(of: claim.batch.scope) }
            try journal.removePause(of: claim.batch.scope)
        }
    }

    /// Stores for later runs that the server asked to wait with a scope, unless its changes were erased meanwhile.
    func setPause(of scope: String, _ wait: Duration) async throws(StorageError) {
        let time = time()
        try await run { journal throws(StorageError) in
            if try journal.hasEntries(of: scope) { try journal.setPause(of: scope, wait, at: time) }
        }
    }

    /// How long nothing is to be sent yet, by scope, since servers asked for it in this run or an earlier one.
    func pauses() async throws(StorageError) -> [String: Duration] {
        let time = time()
        return try await run { journal throws(StorageError) in try journal.pauses(at: time) }
    }

    /// Counts an attempt to which no response came, and returns whether the change is suspected; see ``SuspectedEntry``.
    func noteLoss(_ claim: Claim) async throws(StorageError) -> Bool {
        let time = time()
        return try await run { journal throws(StorageError) in
            // It may have been erased meanwhile, and nothing may name its account any more.
            guard try journal.entry(claim.id) != nil else { return false }
            return try journal.noteLoss(of: claim.batch.scope, claim.id, at: time)
        }
    }

    /// Has a claimed change wait in its place, so that another one can be claimed. The server may have received it.
    ///
    /// - Parameter forgetsLosses: Whether attempts without a response are counted anew.
    func postpone(_ claim: Claim, forgetsLosses: Bool) async throws(StorageError) {
        let time = time()
        try await run(changes: true) { journal throws(StorageError) in
            try Self.noteSending(claim.id, journal, time)
            try journal.refuse(claim.batch)
            if forgetsLosses { try journal.removeLosses(of: claim.batch.scope) }
        }
    }

    /// The attempt failed. The change certainly did not reach the server, so that it can be edited.
    func release(_ claim: Claim) async throws(StorageError) {
        try await run(changes: true) { journal throws(StorageError) in _ = try journal.acknowledge(claim.batch, []) }
    }

    /// The server refused the change, or can't be sent it.
    ///
    /// - Parameter isTaken: Whether the server may have taken it all the same.
    /// - Returns: The change as the app sees it; `nil` if the app has removed it.
    func setAside(
        _ claim: Claim, _ reason: SetAsideReason, mayBeTaken isTaken: Bool
    ) async throws(StorageError) -> QueuedChange? {
        let time = time()
        return try await run(changes: true) { journal throws(StorageError) in
            if isTaken { try Self.noteSending(claim.id, journal, time) }
            return try Self.setAside([claim.id], reason, journal).first
        }
    }

    /// Stores with a claimed change that the server may have received it, before the claim is dropped.
    private static func noteSending(_ id: UUID, _ journal: Journal, _ time: JournalTime) throws(StorageError) {
        guard let placed = try journal.entry(id), placed.state == .claimed,
            var change = StoredChange(placed.entry.payload), !change.mayHaveBeenSent
        else { return }
        change.mayHaveBeenSent = true
        // A full queue must be able to hand over what it has.
        try journal.replace(placed, with: try change.bytes(), time, isLimited: false, keepsAge: true)
    }

    /// Sets aside the changes that wait longer than allowed, and returns them.
    ///
    /// - Parameter delivered: The changes that have succeeded, and are still to be removed.
    func expire(besides delivered: Set<UUID>) async throws(StorageError) -> [QueuedChange] {
        let time = time()
        return try await run { journal throws(StorageError) in
            // The app could not be handed what nobody can read now.
            if self.state.withLock({ $0.isKeyMissing }) { return [] }
            let overdue = try journal.overdue(at: time).subtracting(self.state.withLock { $0.unsettled.keys })
                .subtracting(delivered)
            for id in overdue { try Self.noteSending(id, journal, time) }
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

extension ChangeJournal.Claim {
    /// Whether this attempt, or one before it, may have reached the server.
    func mayBeTaken(after error: NetworkError) -> Bool {
        mayHaveBeenSent || error.sending != .notSent && error.kind != .invalidParameters
    }

    /// The change as the app sees it.
    var queuedChange: QueuedChange {
        QueuedChange(
            change,
            PlacedEntry(
                sequence: batch.entries[0].sequence, entry: batch.entries[0].entry, state: .claimed, reason: ""))
    }
}
