import Foundation
import Runway
import RunwayJSON
import Synchronization

/// Sends the waiting records of the store in batches. A ``SendSchedule`` with the policy ``LogBatches`` decides when.
final class ActionLogSender: SendWork {
    /// The functions of the layer that the log uses.
    struct Link: Sendable {
        /// Sends a body, like any other call of the service. Records without an account are sent without a token, if
        /// the service permits this.
        var send: @Sendable (_ body: [UInt8], _ isAnonymous: Bool) async throws(NetworkError) -> RawData
        var erase: @Sendable () async throws(NetworkError) -> Void
        /// Asks the server to erase the records that the installation with this secret sent without an account.
        var eraseOfNobody: @Sendable (_ secret: InstallationSecret) async throws(NetworkError) -> Void
        /// Returns the signed-in account; an empty text if nobody is signed in.
        var account: @Sendable () -> String
        var status: @Sendable () -> NetworkStatus
        /// Asks the system for background time. Returns `nil` if the app can't have any.
        var beginGrace: @Sendable (_ name: String) -> GraceHold?
    }

    struct State {
        var link: Link?
        var readingCount = 0
        /// Whether the state that earlier runs stored was read. It becomes `false` if an account signs in during a
        /// pause that the server asked for, so that the file is read again after the pause.
        var isRead = false
        var sent = 0
        /// The numbers of records and erasures that the server has accepted or refused in this run, by scope: an
        /// account, or a pending erasure.
        var ended: [String: Int] = [:]
        var problem: String?
    }

    let store: JournalQueue
    let buffer: RecordBuffer
    let clock: LayerClock
    let options: ActionLogOptions
    let loop: SendLoop<LogBatches>
    /// Guards the connection to the layer, and the counts.
    let state = Mutex(State())

    init(_ store: JournalQueue, _ buffer: RecordBuffer) {
        self.store = store
        self.buffer = buffer
        clock = buffer.clock
        options = buffer.options
        let pace = SendPace(gap: options.gap, backoff: options.backoff)
        loop = SendLoop(LogBatches(options), pace, isNetworkAllowed: true, clock: clock)
    }

    /// The number of records that the server has accepted in this run.
    var sentCount: Int { state.withLock { $0.sent } }

    /// The reason why the last attempt to send failed; `nil` if it succeeded, or before the first attempt.
    var problem: String? { state.withLock { $0.problem } }

    var isRefusingAll: Bool { loop.schedule { $0.policy.isRefusingAll } }

    /// The signed-in account; empty if nobody is signed in, or the log has no layer.
    var account: String { state.withLock { $0.link }?.account() ?? "" }

    /// Connects the sender with the layer.
    ///
    /// - Precondition: The sender has no layer yet.
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

    /// Sends the waiting records of an account that has signed in or has a new token.
    func servicesDidChange() async {
        // Nothing is read from disk during a pause that the server asked for.
        if isPaused { state.withLock { $0.isRead = false } } else { await refresh(unseals: true) }
        loop.change { $0.prompt() }
    }

    /// Whether the pause that the server asked for is still running.
    private var isPaused: Bool {
        let now = clock.now
        return loop.schedule { $0.isPaused([""], at: now) }
    }

    /// Reads the number of waiting records for the schedule.
    ///
    /// - Parameter unseals: Whether encrypted records that can be decrypted now wait to be sent again.
    func refresh(isUrgent: Bool = false, unseals: Bool = false) async {
        guard let reading = await reading(unseals: unseals) else { return }
        loop.change { $0.policy.note(reading, isUrgent: isUrgent) }
    }

    /// Sends the waiting records. Returns when all are sent, or when an attempt failed. If the task is cancelled, it
    /// returns without waiting for the server, and sending continues.
    func flush() async {
        guard state.withLock({ $0.link != nil }) else { return }
        // Nothing is read from disk during a pause that the server asked for.
        if isPaused { return loop.schedule { $0.prompt() } }
        guard let reading = await reading(unseals: true) else { return }
        loop.schedule { $0.policy.note(reading) }
        await loop.flush()
    }

    /// Asks the system for background time. Returns `nil` if the log has no layer, or the app can't have any.
    func beginGrace() -> GraceHold? { state.withLock { $0.link }?.beginGrace("ActionLog") }

    func run() async { await loop.run(self) }

    func decide() async -> SendStep {
        guard let link = state.withLock({ $0.link }) else { return .wait(until: nil) }
        let isPaused = isPaused
        if !isPaused, !state.withLock(\.isRead) { await read() }
        let (isAllowed, now) = (options.allowsNetwork(link.status()), clock.now)
        // The file may be unreadable now and readable later, for example after the device is unlocked.
        guard state.withLock(\.isRead) else {
            return .wait(until: isPaused ? loop.schedule { $0.pauseEnd(of: "") } : now + SendPace.checkInterval)
        }
        return loop.schedule { $0.step($0.policy.scopes, isNetworkAllowed: isAllowed, at: now) }
    }

    /// Reads the state that an earlier run stored.
    private func read() async {
        let (time, now) = (buffer.time, clock.now)
        let (pace, refusals): (ActionLogPace?, [String: Int])
        do throws(StorageError) {
            (pace, refusals) = try await store.read { [buffer] journal throws(StorageError) in
                let pace = try journal.pace(at: time, now: now)
                // The buffer is changed within this operation, before the next operation on the file. So this change
                // never undoes a later decision of the app.
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

    /// Reads the records and erasures that may be sent now. Returns `nil` if the disk fails.
    private func reading(unseals: Bool = false) async -> LogBatches.Reading? {
        try? await store.read { journal throws(StorageError) in
            if unseals { try journal.unseal() }
            return try self.reading(in: journal)
        }
    }

    /// Reads the records and erasures that may be sent now. Call it in an operation on the file.
    func reading(in journal: Journal) throws(StorageError) -> LogBatches.Reading {
        // The account and the time are read within the operation, so that a later reading never has earlier ones.
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
            // The disk failed. The batch is still in the file, or it is sent again and the server recognises it.
        }
        let reading = await reading()
        let now = clock.now
        loop.schedule { [outcome] schedule in
            // If the disk fails, the counts of the last reading stay.
            if let reading { schedule.policy.note(reading) }
            schedule.didSend(scope, reading == nil ? .failed() : outcome, at: now)
        }
    }
}
