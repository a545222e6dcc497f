import Foundation
import Runway
import Synchronization

/// Sends what waits in the journal, one change at a time, when ``DrainSchedule`` decides so.
final class ChangeDrainer: Sendable {
    struct State {
        var schedule: DrainSchedule
        /// The change that is being sent, and its call.
        var current: (id: UUID, call: Task<RawData, any Error>)?
        /// How often the server failed on a change by a fault of its own, in this run.
        var faults: [UUID: Int] = [:]
        /// The changes that are sent in turn with others, since no response comes to them, by scope.
        var suspects: [String: SuspectedEntry] = [:]
        /// The changes whose success was handed over, or is being so, and that are not removed yet.
        var delivered: Set<UUID> = []
        var flushes: [Race<Void>] = []
        /// How many of them came before the last review, which the last decision followed.
        var decidedFlushCount = 0
        /// Whether changes may have become readable.
        var isReviewDue = false
        var isFinished = false
    }

    /// The result that the present task hands over, or that the task which started it did; `nil` if there is none.
    @TaskLocal static var delivery: Delivery?

    let journal: ChangeJournal
    private let link: ChangeLink
    private let options: OfflineQueueOptions
    /// The endpoints by service and name.
    private let endpoints: [String: [String: ReplayedEndpoint]]
    private let events: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation
    /// Guards the schedule, the change that is being sent, and who waits for the end of a flush.
    let state: Mutex<State>

    init(
        _ journal: ChangeJournal, _ link: ChangeLink, _ endpoints: [String: [String: ReplayedEndpoint]],
        _ options: OfflineQueueOptions
    ) {
        self.journal = journal
        self.link = link
        self.endpoints = endpoints
        self.options = options
        state = Mutex(
            State(schedule: DrainSchedule(options, isNetworkAllowed: options.allowsNetwork(link.status()))))
        (events, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Changes the schedule, and has it decide anew.
    func change(_ change: (inout DrainSchedule) -> Void = { _ in }) {
        state.withLock { change(&$0.schedule) }
        signal.yield()
    }

    /// Delays a scope, and has the schedule decide anew if that ends another delay: a new one makes nothing due.
    func delay(_ scope: String, owner: UUID, upTo limit: Duration?) {
        if state.withLock({ $0.schedule.delay(scope, owner: owner, upTo: limit) }) { signal.yield() }
    }

    /// Sends what waits, also what can be decrypted by now.
    func review() {
        state.withLock { state in
            state.schedule.flush()
            state.isReviewDue = true
        }
        signal.yield()
    }

    /// The first change of a scope was stored, after its call had failed.
    func didStoreFirst(in scope: String, retryAfter: Duration?) {
        let now = link.clock.now
        change { $0.didStoreFirst(in: scope, retryAfter: retryAfter, at: now, jitter: .random(in: 0...1)) }
    }

    /// Cancels the call that sends one of these changes.
    func cancel(_ ids: Set<UUID>) {
        let call = state.withLock { state in
            state.current.flatMap { ids.contains($0.id) ? $0.call : nil }
        }
        call?.cancel()
    }

    /// Whether the success of a change was handed over in this run, or is being so.
    func isDelivered(_ id: UUID) -> Bool { state.withLock { $0.delivered.contains(id) } }

    /// Sends what waits, without delays, and returns when nothing can be sent any more now, or when the waiting task is
    /// cancelled.
    func flush() async {
        let end = Race<Void>()
        let waits = state.withLock { state in
            if state.isFinished { return false }
            state.schedule.flush()
            state.schedule.ignoresDelays = true
            state.isReviewDue = true
            // It would wait for itself: the next change is sent when the result is handed over.
            if Self.delivery?.isOpen(of: journal) ?? false { return false }
            state.flushes.append(end)
            return true
        }
        signal.yield()
        if waits { await end.wait(onCancel: ()) }
    }

    /// Runs until the task is cancelled.
    func run() async {
        await withTaskCancellationHandler {
            var iterator = events.makeAsyncIterator()
            var (isOpen, isExpiryDue) = (false, true)
            var grace: GraceHold?
            defer { grace?.end() }
            while !Task.isCancelled {
                if !isOpen { isOpen = await restorePauses() }
                let now = link.clock.now
                // While servers have asked to wait in all scopes that can be sent, nothing is read to find what has expired, and that stays
                // due. It takes no grace, since nothing is sent: an app that is suspended continues later.
                if isOpen, isExpiryDue, !isPaused(at: now) {
                    await expire()
                    isExpiryDue = false
                }
                if takeReview() { try? await journal.reviewSealed() }
                switch step(isOpen: isOpen, at: now) {
                case .replay(let scope):
                    // Before anything is read: the system may suspend the app at any time without it. The one of the last change may have
                    // expired, and is held until the new one has begun.
                    let former = grace
                    grace = link.beginGrace("OfflineQueue")
                    former?.end()
                    await replay(scope)
                case .wait(let instant):
                    if !isGap(until: instant) {
                        grace?.end()
                        grace = nil
                        resumeFlushes()
                    }
                    let alarm = instant.map { instant in
                        Task { [link, signal] in
                            try await link.clock.sleep(until: instant)
                            signal.yield()
                        }
                    }
                    defer { alarm?.cancel() }
                    _ = await iterator.next()
                    isExpiryDue = true
                }
            }
        } onCancel: {
            state.withLock { $0.current?.call }?.cancel()
            signal.finish()
        }
        resumeFlushes(isFinished: true)
    }

    /// Whether changes may have become readable. The flushes that came until now end after the next decision.
    private func takeReview() -> Bool {
        state.withLock { state in
            state.decidedFlushCount = state.flushes.count
            defer { state.isReviewDue = false }
            return state.isReviewDue
        }
    }

    /// Whether the server asked to wait with all changes that may be sent now.
    private func isPaused(at now: Duration) -> Bool {
        let sendable = journal.scopes.filter(isSendable)
        return state.withLock { $0.schedule.isPaused(sendable, at: now) }
    }

    private func step(isOpen: Bool, at now: Duration) -> DrainSchedule.Step {
        // A file that can't be opened now may be later, such as after the device was unlocked.
        guard isOpen else { return .wait(until: now + options.interval) }
        let isAllowed = options.allowsNetwork(link.status())
        let scopes = journal.scopes
        let sendable = scopes.filter(isSendable)
        return state.withLock { state in
            state.schedule.step(
                sendable, hasOthers: sendable.count < scopes.count, isNetworkAllowed: isAllowed, at: now)
        }
    }

    /// Whether the account of a scope is signed in, in the environment of the scope.
    private func isSendable(_ text: String) -> Bool {
        guard let scope = ChangeScope(text), let endpoint = endpoints[scope.service]?.first?.value.endpoint else {
            return false
        }
        let (account, environment) = link.current(endpoint)
        return account == scope.account && environment.name == scope.environment
    }

    /// Whether a wait is the pause between two changes, which ends neither a flush nor the system's time in the
    /// background.
    private func isGap(until instant: Duration?) -> Bool {
        instant.map { $0 <= link.clock.now + options.gap } ?? false
    }

    /// Ends the flushes that came before the last decision, or all.
    private func resumeFlushes(isFinished: Bool = false) {
        let flushes = state.withLock { state in
            if isFinished { state.isFinished = true }
            let count = isFinished ? state.flushes.count : state.decidedFlushCount
            defer {
                state.flushes.removeFirst(count)
                state.decidedFlushCount = 0
                state.schedule.ignoresDelays = !state.flushes.isEmpty
            }
            return state.flushes.prefix(count)
        }
        for flush in flushes { flush.finish(()) }
    }

    /// Reads what servers asked for in an earlier run; returns `false` if the file can't be read now.
    private func restorePauses() async -> Bool {
        guard let pauses = try? await journal.pauses() else { return false }
        let now = link.clock.now
        state.withLock { state in
            for (scope, wait) in pauses { state.schedule.pause(scope, until: now + wait) }
        }
        return true
    }

    /// Hands over what waits too long.
    private func expire() async {
        guard let expired = try? await journal.expire(besides: state.withLock(\.delivered)) else { return }
        for change in expired { await report(change) }
    }

    /// Hands a change that expired to the app.
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

extension ChangeDrainer {
    private func replay(_ scope: String) async {
        journal.setSending(true)
        let outcome: DrainSchedule.Outcome
        do throws(StorageError) {
            outcome = try await attempt(scope)
        } catch {
            // The disk failed. The change is still there, or it is sent again, and the server recognises its key.
            outcome = .failed()
        }
        // If the disk fails, only this run knows.
        if case .failed(let wait?) = outcome { try? await journal.setPause(of: scope, wait) }
        let now = link.clock.now
        state.withLock { $0.schedule.didReplay(scope, outcome, at: now, jitter: .random(in: 0...1)) }
        journal.setSending(false)
    }

    private func attempt(_ scope: String) async throws(StorageError) -> DrainSchedule.Outcome {
        let passed = state.withLock { $0.suspects[scope]?.skipped ?? [] }
        guard let claim = try await journal.claim(scope, passing: passed) else {
            state.withLock { state in
                if state.suspects[scope]?.isProbing == true { state.suspects[scope]?.hasNoProbe() }
            }
            return .stopped
        }
        if isDelivered(claim.id) { return try await acknowledge(claim) }
        let endpoint = endpoints[claim.change.service]?[claim.change.endpoint]?.endpoint
        guard let endpoint, let unsent = claim.change.unsent(as: endpoint) else {
            let reason = "The app has no endpoint \(claim.change.endpoint) any more."
            _ = try await journal.setAside(claim, SetAsideReason(.refused, reason), claim.effectBefore)
            return .settled
        }
        if claim.isTooOld {
            let sentence =
                claim.mayHaveBeenSent
                ? "It may have been sent, and the server may have forgotten its key." : "It waited too long."
            let change = try await journal.setAside(claim, SetAsideReason(.expired, sentence), claim.effectBefore)
            if let change { await report(change) }
            return .settled
        }
        switch await send(unsent, claim) {
        case .success(let rawData): return try await finish(claim, rawData)
        case .failure(let error): return try await fail(claim, error)
        }
    }

    /// Sends a change, unless the app has removed it since it was claimed.
    func send(_ change: UnsentChange, _ claim: ChangeJournal.Claim) async -> Result<RawData, NetworkError> {
        let call = state.withLock { state in
            let call = Task { [link, journal] () async throws -> RawData in
                // Who removed the change before it was the current one cancelled no call.
                guard try await journal.has(claim) else { throw CancellationError() }
                return try await link.replay(change, claim.id)
            }
            state.current = (claim.id, call)
            return call
        }
        defer { state.withLock { $0.current = nil } }
        if Task.isCancelled { call.cancel() }
        do {
            return .success(try await call.value)
        } catch let error as NetworkError {
            return .failure(error)
        } catch {
            return .failure(NetworkError(.cancelled, in: .offlineQueue, "The call was cancelled."))
        }
    }

    private func finish(_ claim: ChangeJournal.Claim, _ rawData: RawData) async throws(StorageError)
        -> DrainSchedule.Outcome
    {
        // The account may have been erased meanwhile.
        guard try await journal.has(claim) else { return .settled }
        // Before the change is removed: an app that ends in between is notified in its next run, since the server responds to the same key
        // with the same response.
        state.withLock { _ = $0.delivered.insert(claim.id) }
        await deliver(claim.queuedChange, .success(rawData), isOver: true)
        return try await acknowledge(claim)
    }

    /// Removes a change whose success was handed over. If the disk fails, the change is claimed again, and this alone
    /// is repeated.
    private func acknowledge(_ claim: ChangeJournal.Claim) async throws(StorageError) -> DrainSchedule.Outcome {
        try await journal.finish(claim, isProbe: isProbe(claim))
        state.withLock { _ = $0.delivered.remove(claim.id) }
        noteSettled(claim)
        return .settled
    }

    private func fail(_ claim: ChangeJournal.Claim, _ error: NetworkError) async throws(StorageError)
        -> DrainSchedule.Outcome
    {
        let verdict = ReplayVerdict(error)
        // The server has certainly not taken it, so that it can be edited (401: RFC 9110 §15.5.2).
        if !claim.mayHaveBeenSent, !error.followsProcessedRequest,
            error.sending == .notSent || verdict == .unauthorized
        {
            try await journal.release(claim)
        }
        switch verdict {
        case .failed(let retryAfter): return .failed(retryAfter: retryAfter)
        case .unauthorized: return .unauthorized
        case .stopped: return .stopped
        case .lost: return try await treatLoss(of: claim, error)
        // What it responded is lost, and the app gets what it says about that.
        case .executed: return try await finish(claim, error.rawData ?? RawData([]))
        case .conflicting: return try await setAside(claim, .conflicting, error)
        case .refused: return try await setAside(claim, .refused, error)
        case .faulted(let retryAfter):
            let faults = state.withLock { state in
                state.faults[claim.id, default: 0] += 1
                return state.faults[claim.id] ?? 0
            }
            guard faults >= options.maximumServerFaults else { return .failed(retryAfter: retryAfter) }
            return try await setAside(claim, .refused, error)
        }
    }

    func setAside(
        _ claim: ChangeJournal.Claim, _ word: SetAsideReason.Word, _ error: NetworkError
    ) async throws(StorageError) -> DrainSchedule.Outcome {
        let sentence =
            word == .unanswered
            ? "The server took other changes, and no response came to this one."
            : (error.serviceError?.description ?? error.detail).cut(toByteCount: 2000)
        let change = try await journal.setAside(claim, SetAsideReason(word, sentence), claim.effect(after: error))
        noteSettled(claim)
        // It is stored as refused first: an app that ends in between finds it in the list.
        if let change { await deliver(change, .failure(error), isOver: false) }
        return .settled
    }
}

extension ChangeDrainer {
    /// A result that is being handed over to the app.
    final class Delivery: Sendable {
        private let journal: ObjectIdentifier
        private let isOver = Atomic(false)

        fileprivate init(_ journal: ChangeJournal) { self.journal = ObjectIdentifier(journal) }

        fileprivate func end() { isOver.store(true, ordering: .relaxed) }

        /// Whether a result of a queue is being handed over now.
        func isOpen(of journal: ChangeJournal?) -> Bool {
            journal.map { ObjectIdentifier($0) } == self.journal && !isOver.load(ordering: .relaxed)
        }
    }
}
