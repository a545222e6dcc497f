import Foundation
import Runway
import Synchronization

/// The records that are not on disk yet, and the current session.
final class RecordBuffer: Sendable {
    fileprivate struct State {
        var records = RecordQueues()
        var number: UInt64 = 0
        var session = UUID()
        var lastRecording: Duration?
        var lost: [ActionLoss: Int] = [:]
        var pace = ActionLogPace()
        var isOptedOut = false
        var generator = SystemRandomNumberGenerator()
        /// The tasks that wait until the writer has tried to write all current records.
        var passes: [Race<Void>] = []
        var erasures = 0
        var isFinished = false
    }

    let clock: LayerClock
    let options: ActionLogOptions
    /// Yields an element after one or more records were added.
    let additions: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation
    /// The system's uptime at the instant zero of the layer's clock.
    private let uptimeOrigin: Duration
    let boot = BootSession.name ?? ""
    /// Guards the records, the session, the counts and the settings.
    private let state = Mutex(State())

    init(_ options: ActionLogOptions, clock: LayerClock) {
        self.options = options
        self.clock = clock
        uptimeOrigin = SystemUptime.now - clock.now
        (additions, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    var time: JournalTime { JournalTime(boot: boot, uptime: uptimeOrigin + clock.now, date: clock.date) }

    /// Converts a ``time`` to an instant of the layer's clock.
    func instant(of time: JournalTime) -> Duration { time.uptime - uptimeOrigin }

    var lost: [ActionLoss: Int] { state.withLock { $0.lost } }

    var count: Int { state.withLock { $0.records.count } }

    /// The fraction of records that the server wants, and the time until which it applies.
    var pace: ActionLogPace {
        get { state.withLock { $0.pace } }
        set { state.withLock { $0.pace = newValue } }
    }

    /// Whether the user opted out, so that nothing is recorded or sent.
    var isOptedOut: Bool { state.withLock { $0.isOptedOut } }

    /// Stops or resumes recording. Stopping removes all records from memory.
    func setOptedOut(_ isOptedOut: Bool) {
        state.withLock { $0.isOptedOut = isOptedOut }
        if isOptedOut { erase { _ in true } }
    }

    func add(
        _ name: String, _ properties: Parameters, _ priority: ActionPriority, account: String
    ) -> ActionReceipt {
        let (now, date) = (clock.now, clock.date)
        let byteCount = ActionRecord.leastByteCount(name, properties)
        let (receipt, dropped) = state.withLock { state -> (ActionReceipt, [ActionReceipt]) in
            let receipt = ActionReceipt(UUID(at: date, &state.generator))
            if let loss = state.loss(of: name, byteCount, options, at: now) {
                state.lost[loss, default: 0] += 1
                return (receipt, [receipt])
            }
            if let last = state.lastRecording, now - last > options.sessionTimeout { state.session = UUID() }
            state.lastRecording = now
            state.number += 1
            state.records.append(
                ActionRecord(
                    receipt: receipt, number: state.number, name: name, properties: properties, account: account,
                    session: state.session, date: date, uptime: uptimeOrigin + now, priority: priority,
                    byteCount: byteCount))
            return (receipt, state.evictExcess(options))
        }
        for receipt in dropped {
            receipt.settle(
                .failure(
                    StorageError(
                        .rejected,
                        "The record was not stored: it was too large or not sampled, the user opted out, the log was closed, or the "
                            + "memory for it is full.")))
        }
        signal.yield()
        return receipt
    }

    /// The number of erasures so far. If it has changed since records were taken, some of them may have been erased.
    var erasures: Int { state.withLock { $0.erasures } }

    /// Takes the oldest records for writing, and also returns ``erasures``. ``removeTaken(rejected:)`` or
    /// ``restoreTaken()`` has to follow.
    func take(_ maximumCount: Int) -> ([ActionRecord], erasures: Int) {
        state.withLock { ($0.records.take(maximumCount), $0.erasures) }
    }

    /// Puts the taken records back, since they could not be written.
    func restoreTaken() { state.withLock { $0.records.restoreTaken() } }

    /// Removes the taken records, which are on disk or were rejected.
    func removeTaken(rejected: Int) {
        state.withLock { state in
            state.records.removeTaken()
            if rejected > 0 { state.lost[.rejected, default: 0] += rejected }
        }
    }

    func erase(where condition: (ActionRecord) -> Bool) {
        let erased = state.withLock { state in
            state.erasures += 1
            return state.records.removeAll(where: condition)
        }
        for record in erased { record.receipt.settle(.failure(StorageError(.rejected, "The record was erased."))) }
    }

    /// Waits until the writer has tried to write all current records, or the task is cancelled.
    func pass() async {
        let pass = Race<Void>()
        let isFinished = state.withLock { state in
            if !state.isFinished { state.passes.append(pass) }
            return state.isFinished
        }
        if isFinished { return }
        signal.yield()
        await pass.wait(onCancel: ())
    }

    /// Makes the writer try again to write the records.
    func wake() { signal.yield() }

    /// Runs one pass of the writer, and resumes the tasks that wait for it.
    func perform<Result>(_ pass: () async -> Result) async -> Result {
        let waiters = state.withLock { state in
            defer { state.passes = [] }
            return state.passes
        }
        let result = await pass()
        for waiter in waiters { waiter.finish(()) }
        return result
    }

    /// Removes and counts the records that could not be written before the log was closed.
    /// ``ActionReceipt/committed()`` throws for them.
    func abandon() {
        let abandoned = state.withLock { state in
            let abandoned = state.records.removeAll { _ in true }
            if !abandoned.isEmpty { state.lost[.memory, default: 0] += abandoned.count }
            return abandoned
        }
        for record in abandoned {
            let reason = "The record was not stored: the disk failed, and the log was closed."
            record.receipt.settle(.failure(StorageError(.unavailable, reason)))
        }
    }

    /// Ends ``additions`` after the current records. Later records are not written.
    func finish() {
        state.withLock { $0.isFinished = true }
        signal.finish()
    }
}

extension RecordBuffer.State {
    /// Returns the reason why a record is not stored; `nil` if it is stored.
    fileprivate mutating func loss(
        of name: String, _ byteCount: Int, _ options: ActionLogOptions, at now: Duration
    ) -> ActionLoss? {
        if isOptedOut { return .optedOut }
        if isFinished { return .rejected }
        if byteCount > options.maximumRecordByteCount { return .rejected }
        let rate = (options.sampleRates[name] ?? 1) * pace.rate(at: now)
        return rate >= 1 || Double.random(in: 0..<1, using: &generator) < rate ? nil : .sampled
    }

    /// Removes the records that exceed the memory limits, and returns their receipts.
    fileprivate mutating func evictExcess(_ options: ActionLogOptions) -> [ActionReceipt] {
        var evicted: [ActionReceipt] = []
        while records.count > max(1, options.maximumBufferedCount)
            || records.count > 1 && records.byteCount > options.maximumBufferedByteCount,
            let record = records.evict()
        {
            lost[.memory, default: 0] += 1
            evicted.append(record.receipt)
        }
        return evicted
    }
}

/// The fraction of records that the server wants, and the pause that it asked for.
struct ActionLogPace: Sendable, Equatable {
    var sampleRate = 1.0
    /// The time on the log's clock until which the fraction applies. After this time, all records are recorded, and the
    /// server's next response can set a new fraction.
    var end = Duration.zero
    /// The end of the pause, on the log's clock. Nothing is sent before this time.
    var pause = Duration.zero

    func rate(at now: Duration) -> Double { now < end ? sampleRate : 1 }

    /// The time for which a fraction of records applies if the server sent the fraction without a pause.
    static let standardLifetime = Duration.seconds(3600)
}

/// The time since the system started, including sleep.
enum SystemUptime {
    static var now: Duration {
        var time = timespec()
        #if canImport(Darwin)
            clock_gettime(CLOCK_MONOTONIC, &time)
        #else
            clock_gettime(CLOCK_BOOTTIME, &time)
        #endif
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}
