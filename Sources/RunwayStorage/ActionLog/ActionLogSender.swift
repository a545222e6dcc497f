import Foundation
import Runway
import RunwayJSON
import Synchronization

/// Sends the waiting records of the store, one batch at a time, when the ``SendSchedule`` of ``LogBatches`` decides so.
final class ActionLogSender: SendWork {
    /// The functions of the layer that a log uses.
    struct Link: Sendable {
        /// Sends a body, like any other call of the service. A body with records without an account is sent without a
        /// token, if the service permits that.
        var send: @Sendable (_ body: [UInt8], _ isAnonymous: Bool) async throws(NetworkError) -> RawData
        /// Asks the server to erase the records of the account that is signed in.
        var erase: @Sendable () async throws(NetworkError) -> Void
        /// Asks the server to erase the records without an account from the installation with this secret.
        var eraseOfNobody: @Sendable (_ secret: InstallationSecret) async throws(NetworkError) -> Void
        /// The account that is signed in to the service; empty if none is.
        var account: @Sendable () -> String
        /// The network that the device has.
        var status: @Sendable () -> NetworkStatus
        /// Asks the system for time in the background; `nil` if the app can't.
        var beginGrace: @Sendable (_ name: String) -> GraceHold?
    }

    struct State {
        var link: Link?
        /// The number of readings.
        var readingCount = 0
        /// Whether the file was read since the layer exists, and since an account signed in while the server asked to
        /// wait.
        var isRead = false
        var sent = 0
        /// The number of records of each scope, and of erasures, that the server has accepted or refused in this run.
        var ended: [String: Int] = [:]
        /// The reason why the last attempt failed; `nil` after a successful attempt.
        var problem: String?
    }

    let store: JournalStore
    let buffer: RecordBuffer
    let clock: LayerClock
    let options: ActionLogOptions
    let loop: SendLoop<LogBatches>
    /// Guards the link, and the numbers of sent records and of readings.
    let state = Mutex(State())

    init(_ store: JournalStore, _ buffer: RecordBuffer) {
        self.store = store
        self.buffer = buffer
        clock = buffer.clock
        options = buffer.options
        let pace = SendPace(gap: options.gap, backoff: options.backoff)
        loop = SendLoop(LogBatches(options), pace, isNetworkAllowed: true, clock: clock)
    }

    /// The number of records that the server has acknowledged in this run.
    var sentCount: Int { state.withLock { $0.sent } }

    /// The reason why the last attempt to send failed; `nil` after a successful attempt, and before the first.
    var problem: String? { state.withLock { $0.problem } }

    /// Whether the server seems to refuse everything.
    var isRefusingAll: Bool { loop.schedule { $0.policy.isRefusingAll } }

    /// The account that is signed in; empty if none is, or if the log has no layer.
    var account: String { state.withLock { $0.link }?.account() ?? "" }

    /// Connects the sender with the layer.
    ///
    /// - Precondition: The sender has no other layer.
    func start(_ link: Link) {
        state.withLock { state in
            precondition(state.link == nil, "an action log belongs to one layer")
            state.link = link
        }
        networkDidChange(to: link.status())
    }

    func networkDidChange(to status: NetworkStatus) {
        let isAllowed = options.allowsNetwork(status)
        loop.change { $0.networkDidChange(isAllowed: isAllowed) }
    }

    /// Sends the waiting records of an account that is signed in by now, or that has another token.
    func servicesDidChange() async {
        // Nothing is read from disk before the server's wait is over.
        if isPaused { state.withLock { $0.isRead = false } } else { await refresh(unseals: true) }
        loop.change { $0.prompt() }
    }

    /// Whether the server asked to wait for longer than until now.
    private var isPaused: Bool {
        let now = clock.now
        return loop.schedule { $0.isPaused([""], at: now) }
    }

    /// Reads the number of waiting records, and passes it to the schedule.
    ///
    /// - Parameter unseals: Whether records that can be decrypted by now wait again.
    func refresh(isUrgent: Bool = false, unseals: Bool = false) async {
        guard let reading = await reading(unseals: unseals) else { return }
        loop.change { $0.policy.note(reading, isUrgent: isUrgent) }
    }

    /// Sends the waiting records, and returns when no more can be sent now: all are sent, or an attempt failed. If the
    /// task is cancelled the function does not wait for the server, and sending continues.
    func flush() async {
        guard state.withLock({ $0.link != nil }) else { return }
        // Nothing is read from disk before the server's wait is over.
        if isPaused { return loop.schedule { $0.prompt() } }
        guard let reading = await reading(unseals: true) else { return }
        loop.schedule { $0.policy.note(reading) }
        await loop.flush()
    }

    /// Asks the system for time in the background; `nil` if the log has no layer, or the app can't.
    func beginGrace() -> GraceHold? { state.withLock { $0.link }?.beginGrace("ActionLog") }

    /// Runs until the task is cancelled.
    func run() async { await loop.run(self) }

    func decide() async -> SendStep {
        guard let link = state.withLock({ $0.link }) else { return .wait(until: nil) }
        let isPaused = isPaused
        if !isPaused, !state.withLock(\.isRead) { await read() }
        let (isAllowed, now) = (options.allowsNetwork(link.status()), clock.now)
        // A file that can't be opened now may be later, such as after the device was unlocked.
        guard state.withLock(\.isRead) else {
            return .wait(until: isPaused ? loop.schedule { $0.pauseEnd(of: "") } : now + SendPace.checkInterval)
        }
        return loop.schedule { $0.step($0.policy.scopes, isNetworkAllowed: isAllowed, at: now) }
    }

    /// Reads the state that the last run stored.
    private func read() async {
        let (time, now) = (buffer.time, clock.now)
        let (pace, refusals): (ActionLogPace?, [String: Int])
        do throws(StorageError) {
            (pace, refusals) = try await store.read { [buffer] journal throws(StorageError) in
                let pace = try journal.pace(at: time, now: now)
                // Before the next operation on the file, so that a decision of the app in the meantime is never undone
                // here.
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
        guard let reading = await reading(unseals: true) else { return }
        state.withLock { $0.isRead = true }
        loop.schedule { schedule in
            if let pace { schedule.pause("", until: pace.pause) }
            schedule.policy.restoreRefusals(refusals)
            schedule.policy.note(reading, isUrgent: true)
        }
    }

    /// Reads the records and erasures that may be sent now; returns `nil` if the disk fails.
    private func reading(unseals: Bool = false) async -> LogBatches.Reading? {
        try? await store.read { journal throws(StorageError) in
            if unseals { try journal.unseal() }
            return try self.reading(in: journal)
        }
    }

    /// Reads the records and erasures that may be sent now, within an operation on the file.
    func reading(in journal: Journal) throws(StorageError) -> LogBatches.Reading {
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
        return LogBatches.Reading(
            counts: counts, ended: ended, age: age, instant: buffer.instant(of: time), number: number)
    }

    func send(_ scope: String) async {
        guard let link = state.withLock({ $0.link }) else { return }
        var outcome = SendOutcome.failed()
        do {
            outcome = try await attempt(scope, over: link)
            if case .failed(let wait?) = outcome { try await storePause(wait) }
        } catch {
            // The disk failed. The batch is still there, or it is sent again, and the server recognises it.
        }
        let reading = await reading()
        let now = clock.now
        loop.schedule { [outcome] schedule in
            // If the disk fails, the numbers of the last reading are used.
            if let reading { schedule.policy.note(reading) }
            schedule.didSend(scope, reading == nil ? .failed() : outcome, at: now)
        }
    }
}
