import Foundation
import Runway
import RunwayJSON
import Synchronization

/// Sends what waits in the store, one batch at a time, when ``FlushSchedule`` decides so.
final class ActionLogSender: Sendable {
    /// What the layer does for a log.
    struct Link: Sendable {
        /// Sends a body, as any other call of the service; one with records of nobody without a token, if the service
        /// permits that.
        var send: @Sendable (_ body: [UInt8], _ isAnonymous: Bool) async throws(NetworkError) -> RawData
        /// Has the server erase the records of the account that is signed in.
        var erase: @Sendable () async throws(NetworkError) -> Void
        /// Has the server erase the records of nobody from the installation with this secret.
        var eraseOfNobody: @Sendable (_ secret: InstallationSecret) async throws(NetworkError) -> Void
        /// The account that is signed in to the service; empty if nobody is.
        var account: @Sendable () -> String
        /// The network that the device has.
        var status: @Sendable () -> NetworkStatus
        /// Asks the system for time in the background; `nil` if the app can't.
        var beginGrace: @Sendable (_ name: String) -> GraceHold?
    }

    struct State {
        var link: Link?
        var schedule: FlushSchedule
        /// The newest reading, whose counts the schedule has; `nil` before the first.
        var reading: Waiting?
        /// How many readings there were.
        var readingCount = 0
        /// Whether the file was read since the layer exists, and since an account signed in while the server asked to
        /// wait.
        var isRead = false
        var sent = 0
        /// How many records of each scope, and erasures, the server has accepted or refused in this run.
        var ended: [String: Int] = [:]
        /// Why the last attempt failed; `nil` after one that succeeded.
        var problem: String?
        var flushes: [Race<Void>] = []
        /// How many of them came before the last decision.
        var decidedFlushCount = 0
        var isFinished = false
    }

    let store: JournalStore
    let buffer: RecordBuffer
    let clock: LayerClock
    let options: ActionLogOptions
    private let events: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation
    /// Guards the link, the schedule, the counts, and who waits for the end of a flush.
    let state: Mutex<State>

    init(_ store: JournalStore, _ buffer: RecordBuffer) {
        self.store = store
        self.buffer = buffer
        clock = buffer.clock
        options = buffer.options
        state = Mutex(State(schedule: FlushSchedule(buffer.options, isNetworkAllowed: true)))
        (events, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// How many records the server has acknowledged in this run.
    var sentCount: Int { state.withLock { $0.sent } }

    /// Why the last attempt to send failed; `nil` after one that succeeded, and before the first.
    var problem: String? { state.withLock { $0.problem } }

    /// Whether the server seems to refuse everything.
    var isRefusingAll: Bool { state.withLock { $0.schedule.isRefusingAll } }

    /// The account that is signed in; empty if nobody is, or the log has no layer.
    var account: String { state.withLock { $0.link }?.account() ?? "" }

    /// Connects the sender with the layer.
    ///
    /// - Precondition: It has no other layer.
    func start(_ link: Link) {
        let isNetworkAllowed = options.allowsNetwork(link.status())
        state.withLock { state in
            precondition(state.link == nil, "an action log belongs to one layer")
            state.link = link
            state.schedule.networkDidChange(isAllowed: isNetworkAllowed)
        }
        signal.yield()
    }

    func networkDidChange(to status: NetworkStatus) {
        let isAllowed = options.allowsNetwork(status)
        state.withLock { $0.schedule.networkDidChange(isAllowed: isAllowed) }
        signal.yield()
    }

    /// Sends what waits for an account that is signed in by now, or that has another token.
    func servicesDidChange() async {
        let now = clock.now
        let isPaused = state.withLock { state in
            guard state.schedule.isPaused(at: now) else { return false }
            // Nothing is read from disk before the server's wait is over.
            state.isRead = false
            state.schedule.flush()
            return true
        }
        if !isPaused {
            await refresh(isUrgent: true, unseals: true)
            state.withLock { $0.schedule.flush() }
        }
        signal.yield()
    }

    /// Reads how many records wait, and passes that to the schedule.
    ///
    /// - Parameter unseals: Whether records wait again that can be decrypted by now.
    func refresh(isUrgent: Bool = false, unseals: Bool = false) async {
        guard let waiting = await waiting(unseals: unseals) else { return }
        note(waiting, isUrgent: isUrgent)
    }

    /// Passes to the schedule how many records wait.
    func note(_ waiting: Waiting, isUrgent: Bool = false) {
        state.withLock { $0.note(waiting, isUrgent: isUrgent) }
        signal.yield()
    }

    /// Sends what waits, and returns when nothing can be sent any more now: all is sent, or an attempt failed. If the
    /// task is cancelled it does not wait for the server, and sending goes on.
    func flush() async {
        let now = clock.now
        let isPaused = state.withLock { state in
            if state.schedule.isPaused(at: now) { state.schedule.flush() }
            return state.link == nil || state.schedule.isPaused(at: now)
        }
        // Nothing is read from disk before the server's wait is over.
        if isPaused { return }
        guard let waiting = await waiting(unseals: true) else { return }
        let flush = Race<Void>()
        let isFinished = state.withLock { state in
            if state.isFinished { return true }
            state.note(waiting)
            state.schedule.flush()
            state.flushes.append(flush)
            return false
        }
        if isFinished { return }
        signal.yield()
        await flush.wait(onCancel: ())
    }

    /// Asks the system for time in the background; `nil` if the log has no layer, or the app can't.
    func beginGrace() -> GraceHold? { state.withLock { $0.link }?.beginGrace("ActionLog") }

    /// Runs until the task is cancelled.
    func run() async {
        var iterator = events.makeAsyncIterator()
        var grace: GraceHold?
        defer { grace?.end() }
        loop: while !Task.isCancelled {
            switch await step() {
            case .send(let scope, let limit):
                // Before anything is read: the system may suspend the app at any time without it. The one of the last batch may have expired,
                // and is held until the new one has begun.
                let former = grace
                grace = beginGrace()
                former?.end()
                await send(scope, limit)
            case .wait(let instant):
                if !isGap(until: instant) {
                    grace?.end()
                    grace = nil
                    resumeFlushes()
                }
                let alarm = instant.map { instant in
                    Task { [clock, signal] in
                        try await clock.sleep(until: instant)
                        signal.yield()
                    }
                }
                defer { alarm?.cancel() }
                guard await iterator.next() != nil else { break loop }
            }
        }
        resumeFlushes(isFinished: true)
    }

    private func step() async -> FlushSchedule.Step {
        guard let link = state.withLock({ $0.link }) else { return .wait(until: nil) }
        let start = clock.now
        if state.withLock({ !$0.isRead && !$0.schedule.isPaused(at: start) }) { await read() }
        let isAllowed = options.allowsNetwork(link.status())
        let now = clock.now
        return state.withLock { state in
            state.decidedFlushCount = state.flushes.count
            // A file that can't be opened now may be later, such as after the device was unlocked.
            guard state.isRead else {
                let isPaused = state.schedule.isPaused(at: start)
                return .wait(until: isPaused ? state.schedule.serverPause : now + FlushSchedule.checkInterval)
            }
            return state.schedule.step(isNetworkAllowed: isAllowed, at: now)
        }
    }

    /// Reads what the last run left.
    private func read() async {
        let (time, now) = (buffer.time, clock.now)
        let (pace, refusals): (ActionLogPace?, [String: Int])
        do throws(StorageError) {
            (pace, refusals) = try await store.read { [buffer] journal throws(StorageError) in
                let pace = try journal.pace(at: time, now: now)
                // Before the next operation on the file, so that this never undoes what the app decides meanwhile.
                if try journal.isOptedOut() { buffer.setOptedOut(true) }
                if let pace { buffer.pace = pace }
                return (pace, try journal.refusals())
            }
            if buffer.isOptedOut {
                try await store.run(.erasing) { journal throws(StorageError) in try journal.completeOptOut() }
            }
        } catch {
            return
        }
        guard let waiting = await waiting(unseals: true) else { return }
        state.withLock { state in
            state.isRead = true
            if let pace { state.schedule.pause(until: pace.pause) }
            state.schedule.restoreRefusals(refusals)
            state.note(waiting, isUrgent: true)
        }
    }

    /// Whether a wait is the gap between two batches, which ends neither a flush nor the system's time in the
    /// background.
    private func isGap(until instant: Duration?) -> Bool { instant.map { $0 <= clock.now + options.gap } ?? false }

    /// Ends the flushes that came before the last decision, or all.
    private func resumeFlushes(isFinished: Bool = false) {
        let flushes = state.withLock { state in
            if isFinished { state.isFinished = true }
            let count = isFinished ? state.flushes.count : state.decidedFlushCount
            defer {
                state.flushes.removeFirst(count)
                state.decidedFlushCount = 0
            }
            return state.flushes.prefix(count)
        }
        for flush in flushes { flush.finish(()) }
    }

    /// How much may be sent now.
    struct Waiting: Sendable {
        /// By scope: the records of nobody, those of the account that is signed in, and the erasures that the server is
        /// asked for.
        var counts: [String: Int]
        /// See ``State/ended``.
        var ended: [String: Int] = [:]
        /// How long the oldest of these records waited at ``instant``; zero if the log has no interval, for which alone
        /// it matters.
        var age: Duration
        /// When it was read, by the layer's clock: a reader may use it later, and the oldest is older then.
        var instant: Duration
        /// Which reading it is. A later one knows more.
        var number: Int
    }

    /// Reads how much may be sent now; returns `nil` if the disk does not say.
    private func waiting(unseals: Bool = false) async -> Waiting? {
        try? await store.read { journal throws(StorageError) in
            if unseals { try journal.unseal() }
            return try self.waiting(in: journal)
        }
    }

    /// Reads how much may be sent now, in an operation on the file.
    func waiting(in journal: Journal) throws(StorageError) -> Waiting {
        // Within the operation, so that a later reading never has an earlier account or time.
        let (account, time) = (account, buffer.time)
        let waiting = try journal.counts().waiting
        var counts: [String: Int] = [:]
        for scope in ["", account] where scope.isScope {
            counts[scope] = (waiting[scope] ?? 0) + (try journal.pendingErasure(of: scope) == nil ? 0 : 1)
        }
        let age: Duration = options.interval == nil ? .zero : try journal.ageOfOldest(in: counts.keys, at: time)
        let (number, ended) = state.withLock { state in
            state.readingCount += 1
            return (state.readingCount, state.ended)
        }
        return Waiting(counts: counts, ended: ended, age: age, instant: buffer.instant(of: time), number: number)
    }

    private func send(_ scope: String, _ limit: Int) async {
        guard let link = state.withLock({ $0.link }) else { return }
        var outcome = FlushSchedule.Outcome.failed()
        do {
            outcome = try await attempt(scope, limit, over: link)
            if case .failed(let wait?) = outcome { try await storePause(wait) }
        } catch {
            // The disk failed. The batch is still there, or it is sent again, and the server recognises it.
        }
        let waiting = await waiting()
        let now = clock.now
        state.withLock { state in
            // If the disk does not say what waits, it is what waited before.
            let newest = waiting.map { state.newest($0) } ?? state.reading
            state.schedule.didSend(
                scope, waiting == nil ? .failed() : outcome, waiting: newest?.counts ?? [:],
                ended: newest?.ended ?? [:],
                oldest: newest.map { $0.age + now - $0.instant } ?? .zero, at: now, jitter: .random(in: 0...1))
        }
    }
}

extension ActionLogSender.State {
    /// Passes how many records wait to the schedule.
    mutating func note(_ waiting: ActionLogSender.Waiting, isUrgent: Bool = false) {
        let newest = newest(waiting)
        schedule.noteWaiting(
            newest.counts, ended: newest.ended, oldest: newest.age, isUrgent: isUrgent, at: newest.instant)
    }

    /// Returns a reading, or a newer one that overtook it: an account may have signed in between both.
    mutating func newest(_ waiting: ActionLogSender.Waiting) -> ActionLogSender.Waiting {
        let newest = reading.flatMap { $0.number > waiting.number ? $0 : nil } ?? waiting
        reading = newest
        return newest
    }
}
