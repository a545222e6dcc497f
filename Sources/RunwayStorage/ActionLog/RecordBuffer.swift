import Foundation
import Runway
import Synchronization

/// The records that are not on disk yet, and the session of the next record.
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
        /// The tasks that wait until the writer has tried to write all records that are in the buffer now.
        var passes: [Race<Void>] = []
        var erasures = 0
        var isFinished = false
    }

    let clock: LayerClock
    let options: ActionLogOptions
    /// An element for one or more additions since the last element.
    let additions: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation
    /// The time since the system started, at the beginning of the clock.
    private let uptimeOrigin: Duration
    let boot = BootSession.name ?? ""
    /// Guards the records in memory, the session, the counts and the settings.
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

    /// The fraction of records that the server wants, and its end.
    var pace: ActionLogPace {
        get { state.withLock { $0.pace } }
        set { state.withLock { $0.pace = newValue } }
    }

    /// Whether nothing is recorded and sent.
    var isOptedOut: Bool { state.withLock { $0.isOptedOut } }

    /// Stops or resumes recording. When it stops, all records in memory are removed.
    func setOptedOut(_ isOptedOut: Bool) {
        state.withLock { $0.isOptedOut = isOptedOut }
        if isOptedOut { erase { _ in true } }
    }

    /// Adds a record, unless it is not sampled.
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

    /// The number of erasures. After an erasure, records that were taken before may be among the erased ones.
    var erasures: Int { state.withLock { $0.erasures } }

    /// Takes the oldest records to write them, until ``removeTaken(rejected:)`` or ``restoreTaken()``, and returns
    /// ``erasures``, too.
    func take(_ maximumCount: Int) -> ([ActionRecord], erasures: Int) {
        state.withLock { ($0.records.take(maximumCount), $0.erasures) }
    }

    /// Makes the records that were taken wait again: they could not be written.
    func restoreTaken() { state.withLock { $0.records.restoreTaken() } }

    /// Removes the records that were taken: they are on disk, or were rejected.
    func removeTaken(rejected: Int) {
        state.withLock { state in
            state.records.removeTaken()
            if rejected > 0 { state.lost[.rejected, default: 0] += rejected }
        }
    }

    /// Removes the records for which a condition holds.
    func erase(where condition: (ActionRecord) -> Bool) {
        let erased = state.withLock { state in
            state.erasures += 1
            return state.records.removeAll(where: condition)
        }
        for record in erased { record.receipt.settle(.failure(StorageError(.rejected, "The record was erased."))) }
    }

    /// Waits until the writer has tried to write all records that are in the buffer now, or the task is cancelled.
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

    /// Has the writer try again.
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

    /// Removes the records that could not be written before the log ended, and counts them.
    /// ``ActionReceipt/committed()`` throws for each of them.
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

    /// Ends ``additions`` after the records that were added. Later records are not written.
    func finish() {
        state.withLock { $0.isFinished = true }
        signal.finish()
    }
}

extension RecordBuffer.State {
    /// Returns the reason why a record is not stored; `nil` if it is.
    fileprivate mutating func loss(
        of name: String, _ byteCount: Int, _ options: ActionLogOptions, at now: Duration
    ) -> ActionLoss? {
        if isOptedOut { return .optedOut }
        if isFinished { return .rejected }
        if byteCount > options.maximumRecordByteCount { return .rejected }
        let rate = (options.sampleRates[name] ?? 1) * pace.rate(at: now)
        return rate >= 1 || Double.random(in: 0..<1, using: &generator) < rate ? nil : .sampled
    }

    /// Removes the records that exceed the limits of the memory, and returns their receipts.
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

/// The fraction of records that the server wants, and the time before which it wants none.
struct ActionLogPace: Sendable, Equatable {
    /// The fraction, from 0 to 1.
    var sampleRate = 1.0
    /// The end of the fraction, by the clock of the log: after it all records are recorded, so that the server's next
    /// response can renew the fraction.
    var end = Duration.zero
    /// The time before which nothing is sent, by the same clock.
    var pause = Duration.zero

    func rate(at now: Duration) -> Double { now < end ? sampleRate : 1 }

    /// The time for which a fraction applies that the server sent without a wait.
    static let standardLifetime = Duration.seconds(3600)
}
