import Foundation
import Runway
import Synchronization

/// Sends the waiting changes of the journal one at a time. A ``SendSchedule`` with the policy ``ChangeDelays`` decides
/// when.
final class ChangeDrainer: SendWork {
    private struct State {
        var current: (id: UUID, call: Task<RawData, any Error>)?
        /// The changes that are not removed yet, although their success is being reported to the app or was reported.
        var delivered: Set<UUID> = []
        /// Whether to look for changes that may have become readable.
        var isReviewDue = false
        /// Whether the pauses that servers asked for in earlier runs were read.
        var isOpen = false
        /// Whether to look for expired changes.
        var isExpiryDue = true
    }

    /// The result that is being reported to the app in this task or in the task that started it; otherwise `nil`.
    @TaskLocal static var delivery: Delivery?

    let loop: SendLoop<ChangeDelays>
    private let journal: ChangeJournal
    private let link: ChangeLink
    private let options: OfflineQueueOptions
    private let endpoints: [String: [String: ReplayedEndpoint]]
    /// Guards the change in flight, and the other work to do.
    private let state = Mutex(State())

    init(
        _ journal: ChangeJournal, _ link: ChangeLink, _ endpoints: [String: [String: ReplayedEndpoint]],
        _ options: OfflineQueueOptions
    ) {
        self.journal = journal
        self.link = link
        self.endpoints = endpoints
        self.options = options
        let pace = SendPace(gap: options.gap, backoff: options.backoff, interval: options.interval)
        loop = SendLoop(
            ChangeDelays(), pace, isNetworkAllowed: options.allowsNetwork(link.status()), clock: link.clock)
    }

    func networkDidChange(to status: NetworkStatus) {
        let isAllowed = options.allowsNetwork(status)
        loop.change { $0.networkDidChange(isAllowed: isAllowed) }
    }

    /// Delays the changes of a scope (an account of a service). If another delay ends, the schedule decides again,
    /// since the changes of a scope may now be sent.
    func delay(_ scope: String, owner: UUID, upTo limit: Duration?) {
        if loop.schedule({ $0.policy.delay(scope, owner: owner, upTo: limit) }) { loop.wake() }
    }

    /// Sends the waiting changes, including those that can be decrypted again.
    func review() {
        state.withLock { $0.isReviewDue = true }
        loop.change { $0.prompt() }
    }

    /// Records that the first change of a scope (an account of a service) was stored after its call failed.
    func didStoreFirst(in scope: String, retryAfter: Duration?) {
        let now = link.clock.now
        loop.change { $0.fail(scope, retryAfter: retryAfter, at: now) }
    }

    func cancel(_ ids: Set<UUID>) {
        let call = state.withLock { state in
            state.current.flatMap { ids.contains($0.id) ? $0.call : nil }
        }
        call?.cancel()
    }

    /// Returns whether the success of a change is being reported to the app, or was reported in this run.
    func isDelivered(_ id: UUID) -> Bool { state.withLock { $0.delivered.contains(id) } }

    /// Sends the waiting changes without delays. Returns when no more can be sent now, or when its task is cancelled.
    func flush() async {
        state.withLock { $0.isReviewDue = true }
        // If a handler called this function, the function would wait for itself, since the next change is sent after
        // the handler returns.
        await loop.flush(waits: !(Self.delivery?.isOpen(of: journal) ?? false))
    }

    func run() async { await loop.run(self) }

    func beginGrace() -> GraceHold? { link.beginGrace("OfflineQueue") }

    func decide() async -> SendStep {
        let (isOpen, isExpiryDue) = state.withLock { ($0.isOpen, $0.isExpiryDue) }
        let now = link.clock.now
        // The file may be unreadable now and readable later, for example after the device is unlocked.
        if !isOpen, !(await restorePauses()) { return wait(until: now + options.interval) }
        // If servers asked for pauses for all accounts whose changes could be sent, the file is not searched for
        // expired changes yet. No background time is requested, since nothing is sent; a suspended app continues later.
        let sendable = journal.scopes.filter(isSendable)
        if isExpiryDue, !loop.schedule({ $0.isPaused(sendable, at: now) }) {
            await expire()
            state.withLock { $0.isExpiryDue = false }
        }
        let isReviewDue = state.withLock { state in
            defer { state.isReviewDue = false }
            return state.isReviewDue
        }
        if isReviewDue { try? await journal.reviewSealed() }
        return step(at: now)
    }

    private func step(at now: Duration) -> SendStep {
        let isAllowed = options.allowsNetwork(link.status())
        let scopes = journal.scopes
        let sendable = scopes.filter(isSendable)
        let step = loop.schedule { schedule in
            schedule.step(
                sendable, hasOthers: sendable.count < scopes.count, isNetworkAllowed: isAllowed, at: now)
        }
        if case .wait(let instant) = step { return wait(until: instant) }
        return step
    }

    private func wait(until instant: Duration?) -> SendStep {
        state.withLock { $0.isExpiryDue = true }
        return .wait(until: instant)
    }

    /// Returns whether the account and the environment of a scope are the current ones. A scope is an account of a
    /// service.
    private func isSendable(_ text: String) -> Bool {
        guard let scope = ChangeScope(text), let endpoint = endpoints[scope.service]?.first?.value.endpoint else {
            return false
        }
        let (account, environment) = link.current(endpoint)
        return account == scope.account && environment.name == scope.environment
    }

    /// Reads the pauses that servers asked for in an earlier run. Returns `false` if the file can't be read now.
    private func restorePauses() async -> Bool {
        guard let pauses = try? await journal.pauses() else { return false }
        let now = link.clock.now
        loop.schedule { schedule in
            for (scope, wait) in pauses { schedule.pause(scope, until: now + wait) }
        }
        state.withLock { $0.isOpen = true }
        return true
    }

    private func expire() async {
        guard let expired = try? await journal.expire(besides: state.withLock(\.delivered)) else { return }
        for change in expired { await report(change) }
    }

    private func report(_ change: QueuedChange) async {
        let error = NetworkError(
            .timedOut, in: .offlineQueue, "The change could not be sent within \(options.maximumAge).")
        await deliver(change, .failure(error), isOver: false)
    }

    private func deliver(_ change: QueuedChange, _ result: Result<RawData, NetworkError>, isOver: Bool) async {
        let delivery = Delivery(journal)
        defer { delivery.end() }
        await Self.$delivery.withValue(delivery) {
            await endpoints[change.service]?[change.endpoint]?.onResult(change, result)
            await link.report(change, result, isOver)
        }
    }
}

// Functions that send one change.
extension ChangeDrainer {
    func send(_ scope: String) async {
        journal.setSending(true)
        let outcome: SendOutcome
        do throws(StorageError) {
            outcome = try await attempt(scope)
        } catch {
            // The disk failed. The change is still in the file, or it is sent again and the server recognises its key.
            outcome = .failed()
        }
        // If the disk fails, only this run knows the pause.
        if case .failed(let wait?) = outcome { try? await journal.setPause(of: scope, wait) }
        let now = link.clock.now
        loop.schedule { $0.didSend(scope, outcome, at: now) }
        journal.setSending(false)
    }

    private func attempt(_ scope: String) async throws(StorageError) -> SendOutcome {
        let skipped = loop.schedule { $0.skipped(in: scope) }
        guard let change = try await journal.claim(scope, passing: skipped) else {
            loop.schedule { $0.hasNoProbe(in: scope) }
            return .stopped
        }
        if isDelivered(change.id) { return try await acknowledge(change) }
        let endpoint = endpoints[change.service]?[change.endpoint]?.endpoint
        guard let endpoint, let unsent = change.unsent(as: endpoint) else {
            let reason = "The app has no endpoint \(change.endpoint) any more."
            _ = try await journal.setAside(change, SetAsideReason(.refused, reason), change.effectBefore)
            return .settled()
        }
        if change.isTooOld {
            let sentence =
                change.mayHaveBeenSent
                ? "It may have been sent, and the server may have forgotten its key." : "It waited too long."
            let expired = try await journal.setAside(change, SetAsideReason(.expired, sentence), change.effectBefore)
            if let expired { await report(expired) }
            return .settled()
        }
        switch await send(unsent, change) {
        case .success(let rawData): return try await finish(change, rawData)
        case .failure(let error): return try await fail(change, error)
        }
    }

    /// Sends a change, unless the app has removed it since it was claimed.
    func send(_ unsent: UnsentChange, _ change: StoredChange) async -> Result<RawData, NetworkError> {
        let call = state.withLock { state in
            let call = Task { [link, journal] () async throws -> RawData in
                // If the app removed the change before it was in flight, there was no call to cancel.
                guard journal.has(change) else { throw CancellationError() }
                return try await link.replay(unsent, change.id)
            }
            state.current = (change.id, call)
            return call
        }
        defer { state.withLock { $0.current = nil } }
        switch await withTaskCancellationHandler(operation: { await call.result }, onCancel: { call.cancel() }) {
        case .success(let rawData): return .success(rawData)
        case .failure(let error as NetworkError): return .failure(error)
        case .failure: return .failure(NetworkError(.cancelled, in: .offlineQueue, "The call was cancelled."))
        }
    }

    private func finish(
        _ change: StoredChange, _ rawData: RawData
    ) async throws(StorageError) -> SendOutcome {
        // The app may have erased the account meanwhile.
        guard journal.has(change) else { return .settled() }
        // The success is reported before the change is removed. If the app ends between the two, its next run reports
        // the change again, since the server returns the same response for the same key.
        state.withLock { _ = $0.delivered.insert(change.id) }
        await deliver(QueuedChange(change), .success(rawData), isOver: true)
        return try await acknowledge(change)
    }

    /// Removes a change whose success was reported to the app. If the disk fails, the change is claimed again, and only
    /// the removal is repeated.
    private func acknowledge(_ change: StoredChange) async throws(StorageError) -> SendOutcome {
        let (id, scope) = (change.id, change.row.scope)
        try await journal.finish(change, isProbe: loop.schedule { $0.isProbe(id, in: scope) })
        state.withLock { _ = $0.delivered.remove(id) }
        loop.schedule { $0.end(id, in: scope) }
        return .settled()
    }

    private func fail(
        _ change: StoredChange, _ error: NetworkError
    ) async throws(StorageError) -> SendOutcome {
        let verdict = ReplayVerdict(error)
        // The server has certainly not executed the change, so the app may edit it (401: RFC 9110 §15.5.2).
        if !change.mayHaveBeenSent, !error.followsProcessedRequest,
            error.sending == .notSent || verdict == .unauthorized
        {
            try await journal.release(change)
        }
        switch verdict {
        case .failed(let retryAfter): return .failed(retryAfter: retryAfter)
        case .unauthorized: return .unauthorized
        case .stopped: return .stopped
        case .lost: return try await treatLoss(of: change, error)
        // The original response is lost. The app receives the server's message about this.
        case .executed: return try await finish(change, error.rawData ?? RawData([]))
        case .conflicting: return try await setAside(change, .conflicting, error)
        case .refused: return try await setAside(change, .refused, error)
        case .faulted(let retryAfter):
            let faults = loop.schedule { $0.countFault(of: change.id, in: change.row.scope) }
            guard faults >= options.maximumServerFaults else { return .failed(retryAfter: retryAfter) }
            return try await setAside(change, .refused, error)
        }
    }

    /// Handles a change without a response: it is sent again, other changes are sent first, or it is set aside.
    private func treatLoss(
        of change: StoredChange, _ error: NetworkError
    ) async throws(StorageError) -> SendOutcome {
        let (id, scope) = (change.id, change.row.scope)
        var isDue = false
        if !loop.schedule({ $0.isProbe(id, in: scope) }) { isDue = try await journal.noteLoss(change) }
        switch loop.schedule({ [isDue] in $0.treatLoss(of: id, in: scope, isDue: isDue) }) {
        case .repeat: return .failed()
        // The claim is released, since only one change may be claimed at a time.
        case .release(let serverIsDown):
            try await journal.postpone(change, forgetsLosses: serverIsDown)
            return .failed()
        case .setAside: return try await setAside(change, .unanswered, error)
        }
    }

    private func setAside(
        _ change: StoredChange, _ word: SetAsideReason.Word, _ error: NetworkError
    ) async throws(StorageError) -> SendOutcome {
        let sentence =
            word == .unanswered
            ? "The server took other changes, and no response came to this one."
            : (error.serviceError?.description ?? error.detail).cut(toByteCount: 2000)
        let refused = try await journal.setAside(change, SetAsideReason(word, sentence), change.effect(after: error))
        loop.schedule { $0.end(change.id, in: change.row.scope) }
        // The change is stored as refused before the report. If the app ends between the two, the change is in the list
        // of changes.
        if let refused { await deliver(refused, .failure(error), isOver: false) }
        return .settled()
    }
}

extension ChangeDrainer {
    /// The result of a change while it is being reported to the app.
    final class Delivery: Sendable {
        private let journal: ObjectIdentifier
        private let isOver = Atomic(false)

        fileprivate init(_ journal: ChangeJournal) { self.journal = ObjectIdentifier(journal) }

        fileprivate func end() { isOver.store(true, ordering: .relaxed) }

        /// Returns whether a result of this queue is being reported now.
        func isOpen(of journal: ChangeJournal?) -> Bool {
            journal.map { ObjectIdentifier($0) } == self.journal && !isOver.load(ordering: .relaxed)
        }
    }
}
