import Foundation
import Runway
import Synchronization

// What the drainer does.
extension ChangeJournal {
    /// Claims the first change of a scope; `nil` if none waits, or its call has not ended.
    ///
    /// - Parameter passed: Changes that are passed over, with those that depend on them, unless one is claimed already.
    ///   The default is none.
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
            guard
                let batch = try journal.claim(scope, maximumCount: 1, maximumByteCount: .max, skipping: skipped),
                let entry = batch.entries.first?.entry
            else { return nil }
            guard let change = StoredChange(entry.payload) else {
                throw StorageError(.unavailable, "A change can't be read.")
            }
            let wasSent = placed?.state == .claimed || change.mayHaveBeenSent
            let isTooOld = try self.isTooOld(change, entry.id, wasSent: wasSent, journal, time)
            return Claim(id: entry.id, change: change, batch: batch, mayHaveBeenSent: wasSent, isTooOld: isTooOld)
        }
    }

    /// Whether a change is too old to be sent without a decision of the app.
    ///
    /// After the system was started, the clock of the file moves by a week at most, so that the date counts, too. It
    /// counts for a change that was never sent only then: the file may be a backup from before the change was sent, and
    /// the server may have forgotten its key.
    func isTooOld(
        _ change: StoredChange, _ id: UUID, wasSent: Bool, _ journal: Journal, _ time: JournalTime
    ) throws(StorageError) -> Bool {
        let isOfThisBoot = !time.boot.isEmpty && change.boot == time.boot
        if wasSent || !isOfThisBoot, change.keyAge(at: time.date) > options.maximumAge { return true }
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

    /// Counts an attempt to which no response came, and returns whether the change is suspected; see
    /// ``SuspectedEntry``.
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
            try Self.note(.unknown, of: claim.id, journal, time)
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
    /// - Parameter effect: What is known of its effect.
    /// - Returns: The change as the app sees it; `nil` if the app has removed it.
    func setAside(
        _ claim: Claim, _ reason: SetAsideReason, _ effect: ChangeEffect
    ) async throws(StorageError) -> QueuedChange? {
        let time = time()
        return try await run(changes: true) { journal throws(StorageError) in
            try Self.note(effect, of: claim.id, journal, time)
            return try Self.setAside([claim.id], reason, journal).first
        }
    }

    /// Stores what is known of the effect of a claimed change, before the claim is dropped.
    private static func note(
        _ effect: ChangeEffect, of id: UUID, _ journal: Journal, _ time: JournalTime
    ) throws(StorageError) {
        guard let placed = try journal.entry(id), placed.state == .claimed,
            var change = StoredChange(placed.entry.payload)
        else { return }
        let former = change
        (change.mayHaveBeenSent, change.hasResult) = (effect != .none, effect == .failed ? true : nil)
        if change == former { return }
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

extension ChangeJournal.Claim {
    /// What is known of the effect before this attempt.
    var effectBefore: ChangeEffect { mayHaveBeenSent ? .unknown : .none }

    /// What is known of the effect after this attempt has failed.
    ///
    /// An attempt before this one may have had its effect, and then a refusal shows nothing: it may come from something
    /// that the server, or a gateway in front of it, asks before it looks the key up. Only a refusal or a failure that
    /// is the stored response to the key shows how that ended; a stored success that can't be read shows no refusal.
    func effect(after error: NetworkError) -> ChangeEffect {
        let outlook = error.outlook
        return switch outlook.keyEnd {
        case .failure: .failed
        case .refusal: .none
        case nil: mayHaveBeenSent || outlook.mayHaveTakenEffect ? .unknown : .none
        }
    }

    /// The change as the app sees it.
    var queuedChange: QueuedChange {
        QueuedChange(
            change,
            PlacedEntry(
                sequence: batch.entries[0].sequence, entry: batch.entries[0].entry, state: .claimed, reason: ""))
    }
}
