import Foundation
import Runway
import Synchronization

/// The changes on disk, and a state in memory that is available without reading the file.
final class ChangeJournal: Sendable {
    struct State {
        /// The number of waiting changes by scope (an account of a service); `nil` before the file was read.
        var waiting: [String: Int]?
        /// The changes whose calls have not ended, with their scopes (accounts of services), and the changes in
        /// ``removals``.
        var unsettled: [UUID: String] = [:]
        /// The changes that were stored before their calls in this run. Their calls have not ended, or they are in
        /// ``removals``.
        var ahead: Set<UUID> = []
        /// The changes to remove, whose calls have ended and need no later attempt. They are not sent.
        var removals: Set<UUID> = []
        /// The change in flight; `nil` if the app has removed it.
        var claimed: UUID?
        /// The number that is added to the number of a call to compute its position in the file. Positions of this run
        /// follow the positions of earlier runs.
        var firstPlace: Int64?
        /// Whether changes can't be decrypted because the key can't be read now. An earlier run has determined their
        /// state.
        var isKeyMissing = false
        var queueState = OfflineQueueState()
        var notifiedState = OfflineQueueState()
    }

    let store: JournalQueue
    let options: OfflineQueueOptions
    let time: @Sendable () -> JournalTime
    private let onChange: @Sendable () -> Void
    /// Guards the state in memory.
    let state = Mutex(State())

    init(
        at url: URL, _ options: OfflineQueueOptions, time: @escaping @Sendable () -> JournalTime,
        onChange: @escaping @Sendable () -> Void
    ) {
        self.options = options
        self.time = time
        self.onChange = onChange
        store = JournalQueue(
            at: url, limits: options.limits, durability: options.survivesPowerLoss ? .full : .normal,
            sealing: options.sealing, time: time)
    }

    /// The state of the queue after the last change.
    var queueState: OfflineQueueState { state.withLock { $0.queueState } }

    /// The scopes (accounts of services) with waiting changes whose calls have ended; empty before the file was read.
    var scopes: [String] {
        state.withLock { state in
            let unsettled = Set(state.unsettled.values)
            return state.waiting?.keys.filter { !unsettled.contains($0) } ?? []
        }
    }

    /// Returns whether a new change has to wait, since other changes of its account wait, or a set-aside change has a
    /// common subject.
    func hasToWait(_ scope: String, _ subjects: Set<String>) async throws(StorageError) -> Bool {
        let (waiting, setAsideCount) = state.withLock { state in
            (state.waiting, state.queueState.undecidedCount + state.queueState.heldCount)
        }
        if let waiting {
            if waiting[scope] != nil { return true }
            if setAsideCount == 0 || subjects.isEmpty { return false }
        }
        return try await run(.reading) { journal throws(StorageError) in
            // A change that was set aside may be waiting again.
            if self.state.withLock({ $0.waiting?[scope] != nil }) { return true }
            if subjects.isEmpty { return false }
            return Self.holds(try journal.entries(of: scope)).contains { change in
                (change.isRefused || change.isHeld) && !change.subjects.isDisjoint(with: subjects)
            }
        }
    }

    /// Runs an operation on the file, and then counts the changes.
    ///
    /// - Parameters:
    ///   - access: The way in which the operation uses the file. The default is writing.
    ///   - changes: Whether the operation changes the contents of a list of changes.
    func run<Value: Sendable>(
        _ access: JournalQueue.Access = .writing, changes: Bool = false,
        _ operation: @escaping @Sendable (Journal) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        defer { noteProblem() }
        return try await store.run(access) { journal throws(StorageError) in
            try self.perform(operation, on: journal, access, changes: changes)
        }
    }

    func perform<Value>(
        _ operation: (Journal) throws(StorageError) -> Value, on journal: Journal, _ access: JournalQueue.Access,
        changes: Bool
    ) throws(StorageError) -> Value {
        if state.withLock({ $0.waiting }) == nil { try begin(journal) }
        if access != .reading { try removeEnded(journal) }
        let value = try operation(journal)
        try count(journal, changes)
        return value
    }

    /// Reports the current problem of the file, or that there is no problem any more.
    func noteProblem() {
        // The problem is read under the lock, so that an old problem does not replace the result of a later operation.
        state.withLock { state in
            state.queueState.problem = store.problem ?? (state.isKeyMissing ? PayloadCoder.unavailable : nil)
        }
        notify()
    }

    /// Calls ``onChange`` if the state has changed since its last call.
    private func notify() {
        let isChanged = state.withLock { state in
            defer { state.notifiedState = state.queueState }
            return state.queueState != state.notifiedState
        }
        if isChanged { onChange() }
    }

    /// Reads a file after it was opened. The last run may have ended between two transactions.
    private func begin(_ journal: Journal) throws(StorageError) {
        let place = try journal.lastSequence()
        state.withLock { if $0.firstPlace == nil { $0.firstPlace = place } }
        try review(journal)
        try count(journal, false)
    }

    func close() async { await store.close() }

    /// Counts the changes. Runs on the file's queue, so that the counts of two operations do not mix.
    private func count(_ journal: Journal, _ isChanged: Bool) throws(StorageError) {
        let counts = try journal.counts()
        let held = counts.setAside == 0 ? 0 : try journal.setAsideCount(beginning: SetAsideReason.Word.held.rawValue)
        let (files, logByteCount) = (store.filesSetAside, isChanged ? store.logByteCount : 0)
        state.withLock { state in
            state.waiting = counts.waiting.filter { $0.value > 0 }
            state.queueState.waitingCount = counts.waiting.values.reduce(0, +)
            state.queueState.undecidedCount = counts.setAside - held
            state.queueState.heldCount = held
            state.queueState.sealedCount = counts.sealed
            state.queueState.damagedCount = counts.lost[.damaged] ?? 0
            state.queueState.unreadableFiles = files
            if isChanged {
                state.queueState.revision += 1
                state.queueState.logByteCount = logByteCount
            }
        }
    }

    /// Removes the changes whose calls have ended and need no later attempt. Runs before every other operation.
    private func removeEnded(_ journal: Journal) throws(StorageError) {
        let (removals, ahead) = state.withLock { ($0.removals, $0.removals.intersection($0.ahead)) }
        if removals.isEmpty { return }
        // These changes were in flight, so no other change is held because of them. If a power loss restores one, it is
        // sent once more with its key.
        if !ahead.isEmpty { try journal.withoutFlush { () throws(StorageError) in try journal.remove(ahead) } }
        try Self.remove(removals.subtracting(ahead), journal)
        state.withLock { state in
            state.removals.subtract(removals)
            state.ahead.subtract(removals)
            for id in removals { state.unsettled[id] = nil }
        }
    }

    func setSending(_ isSending: Bool) {
        state.withLock { $0.queueState.isSending = isSending }
        notify()
    }
}

// Lists, removes and replaces changes for the app.
extension ChangeJournal {
    /// Returns the changes of a scope (an account of a service), or of all scopes if `scope` is `nil`, in their order.
    func list(_ scope: String? = nil) async throws(StorageError) -> [QueuedChange] {
        try await run(.reading) { journal throws(StorageError) in
            let ahead = self.state.withLock { $0.ahead }
            return try journal.entries(of: scope).filter { !ahead.contains($0.id) }.map { QueuedChange($0) }
        }
    }

    /// Removes changes.
    ///
    /// - Returns: The removed changes that the server certainly has not executed.
    @discardableResult
    func remove(_ ids: Set<UUID>) async throws(StorageError) -> Set<UUID> {
        try await run(changes: true) { journal throws(StorageError) in
            var untaken: Set<UUID> = []
            for id in ids {
                guard let placed = try journal.entry(id), placed.state != .claimed, !placed.isSealed,
                    let change = StoredChange(placed), !change.mayHaveBeenSent
                else { continue }
                untaken.insert(id)
            }
            try Self.remove(ids, journal)
            self.forgetClaim(of: ids)
            return untaken
        }
    }

    private func forgetClaim(of ids: Set<UUID>) {
        state.withLock { if let id = $0.claimed, ids.contains(id) { $0.claimed = nil } }
    }

    static func remove(_ ids: Set<UUID>, _ journal: Journal) throws(StorageError) {
        let scopes = try scopes(of: ids, journal)
        try journal.remove(ids)
        for scope in scopes { try updateHolds(journal, scope) }
    }

    /// Removes all changes of an account, and overwrites their bytes in the file.
    ///
    /// - Parameter onRemoval: Called with the removed changes before the function returns or throws. The function may
    ///   throw after it has removed only some of the changes.
    func erase(account: String?, onRemoval: (Set<UUID>) -> Void) async throws(StorageError) {
        // Collects the ids of both attempts, since the first may have removed some before the disk was full.
        let found = Mutex<Set<UUID>>([])
        do throws(StorageError) {
            try await run(.erasing, changes: true) { journal throws(StorageError) in
                let entries = try journal.entries().filter { ChangeScope($0.scope)?.account == account }
                found.withLock { $0.formUnion(entries.map(\.id)) }
                self.forgetClaim(of: Set(entries.map(\.id)))
                let others = try journal.scopesBesideEntries().filter { ChangeScope($0)?.account == account }
                let scopes = Set(entries.map(\.scope)).union(others)
                for scope in scopes { try journal.erase(scope) }
                // Calls in flight must not store the erased changes again.
                self.state.withLock { $0.ahead.subtract(entries.map(\.id)) }
                // The write-ahead log, or a file that was set aside, may contain changes that were sent.
                if scopes.isEmpty { try journal.overwriteRemoved() }
            }
        } catch {
            let ids = found.withLock { $0 }
            // This operation also counts the remaining changes.
            let left = try? await run(.reading, changes: true) { journal throws(StorageError) in
                Set(try journal.entries().map(\.id))
            }
            if let left { onRemoval(ids.subtracting(left)) }
            throw error
        }
        onRemoval(found.withLock { $0 })
    }

    /// Replaces the call of a change. The change gets a new key.
    func replace(_ id: UUID, with change: UnsentChange, at date: Date) async throws(StorageError) {
        let (scope, time) = (ChangeScope(change).text, time())
        let payload = try stored(change, at: date, time).row.payload
        try await run(changes: true) { journal throws(StorageError) in
            guard let placed = try journal.entry(id), placed.scope == scope else {
                throw StorageError(.rejected, "The queue has no such change of this account.")
            }
            let (state, reason) = (QueuedChange(placed).state, SetAsideReason(placed.reason))
            // The server may know the change under its idempotency key.
            let isBound = StoredChange(placed)?.isBoundToKey ?? (reason == .unreadableAfterSending)
            guard state != .sealed else {
                throw StorageError(.rejected, "The change can't be decrypted, and can't be edited before it can.")
            }
            guard state != .sending, !isBound else {
                throw StorageError(.rejected, "The change may have reached the server, and can't be edited any more.")
            }
            try journal.replace(placed, with: payload, time)
            try Self.updateHolds(journal, scope)
        }
    }

    /// Puts refused changes, expired changes and changes without a response back into the queue, to be sent again. A
    /// change that is bound to its key retains its key and age. Any other change gets a new key, since the server may
    /// have stored a refusal for its old key.
    ///
    /// - Throws: ``StorageError/Kind/rejected`` if the server may have lost the key of one of the changes. Then nothing
    ///   is changed.
    func retry(_ ids: Set<UUID>) async throws(StorageError) {
        let time = time()
        try await run(changes: true) { journal throws(StorageError) in
            var retried: [StoredChange] = []
            for id in ids {
                guard let placed = try journal.entry(id), placed.state == .setAside else { continue }
                let reason = SetAsideReason(placed.reason)
                guard reason.word != .held, var change = StoredChange(placed) else { continue }
                if change.isBoundToKey, try self.isTooOld(change, wasSent: true, journal, time) {
                    throw StorageError(
                        .rejected, "The server may have executed a change, and forgotten its key: discard the change.")
                }
                if !change.isBoundToKey { change.renewKey(at: time) }
                retried.append(change)
            }
            for change in retried {
                // The limits do not apply, since a full queue must be able to send its changes.
                try journal.replace(
                    change.row, with: try change.bytes(), time, isLimited: false, keepsAge: change.isBoundToKey)
            }
            for scope in try Self.scopes(of: ids, journal) { try Self.updateHolds(journal, scope) }
        }
    }

    /// Returns these ids, and the ids of the changes that are held because of them.
    func withDependents(_ ids: Set<UUID>) async throws(StorageError) -> Set<UUID> {
        try await run(.reading) { journal throws(StorageError) in
            var found = ids
            for scope in try Self.scopes(of: ids, journal) {
                var subjects: Set<String> = []
                for change in Self.holds(try journal.entries(of: scope)) {
                    let depends = change.isHeld && !change.subjects.isDisjoint(with: subjects)
                    guard depends || ids.contains(change.id) else { continue }
                    found.insert(change.id)
                    subjects.formUnion(change.subjects)
                }
            }
            return found
        }
    }

    static func scopes(of ids: Set<UUID>, _ journal: Journal) throws(StorageError) -> Set<String> {
        var scopes: Set<String> = []
        for id in ids {
            if let scope = try journal.entry(id)?.scope { scopes.insert(scope) }
        }
        return scopes
    }

    static func holds(_ entries: [JournalEntry]) -> [ChangeHolds.Change] {
        entries.filter { !$0.isSealed && $0.state != .ahead }.map { placed in
            let word = placed.state == .setAside ? SetAsideReason(placed.reason).word : nil
            return ChangeHolds.Change(
                id: placed.id, subjects: Set(StoredChange(placed)?.subjects ?? []),
                isRefused: word != nil && word != .held, isHeld: word == .held, isClaimed: placed.state == .claimed)
        }
    }

    /// Holds and releases the changes that depend on set-aside changes.
    static func updateHolds(_ journal: Journal, _ scope: String) throws(StorageError) {
        if try journal.counts().setAside == 0 { return }
        let entries = try journal.entries(of: scope)
        let (hold, release) = ChangeHolds.update(holds(entries))
        var reasons: [UUID: String?] = [:]
        let held = SetAsideReason(.held, "An earlier change of the same was refused.")
        for id in hold { reasons[id] = held.text }
        // If a refused change can't be decrypted, its dependents are unknown.
        let isUnknown = entries.contains { $0.isSealed && $0.state == .setAside }
        if !isUnknown { for id in release { reasons.updateValue(nil, forKey: id) } }
        try journal.place(reasons)
    }
}
