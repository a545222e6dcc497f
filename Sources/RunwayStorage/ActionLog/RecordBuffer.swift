import Foundation
import Runway
import Synchronization

/// The records that are not on disk yet, and the session that the next one belongs to.
final class RecordBuffer: Sendable {
    fileprivate struct State {
        var records: [ActionRecord] = []
        var session = UUID()
        var lastRecording: Duration?
        var account: String?
        var lost: [ActionLoss: Int] = [:]
        /// The fraction of records that the server wants.
        var sampleRate = 1.0
        var generator = SystemRandomNumberGenerator()
        /// Who waits until the writer has tried to write all that is here now.
        var passes: [CheckedContinuation<Void, Never>] = []
        var erasures = 0
        var isFinished = false
    }

    /// What the caller of ``add(_:_:_:account:)`` has to do.
    struct Addition {
        var receipt: ActionReceipt
        /// Whether another account recorded before.
        var isOfNewAccount = false
    }

    let clock: LayerClock
    let options: ActionLogOptions
    /// An element for one or more additions since the last element.
    let additions: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation
    /// The time since the system started, at the beginning of the clock.
    private let uptimeOrigin: Duration
    let boot = BootSession.name ?? ""
    /// Guards the records in memory, the session and the counts.
    private let state = Mutex(State())

    init(_ options: ActionLogOptions, clock: LayerClock) {
        self.options = options
        self.clock = clock
        uptimeOrigin = SystemUptime.now - clock.now
        (additions, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    var time: JournalTime { JournalTime(boot: boot, uptime: uptimeOrigin + clock.now, date: clock.date) }

    var lost: [ActionLoss: Int] { state.withLock { $0.lost } }

    var count: Int { state.withLock { $0.records.count } }

    func setSampleRate(_ rate: Double) { state.withLock { $0.sampleRate = rate } }

    /// Adds a record, unless it is not sampled.
    func add(_ name: String, _ properties: Parameters, _ priority: ActionPriority, account: String) -> Addition {
        let now = clock.now
        let date = clock.date
        let (addition, dropped) = state.withLock { state in
            var addition = Addition(receipt: ActionReceipt(UUID(at: date, &state.generator)))
            addition.isOfNewAccount = state.account.map { $0 != account } ?? false
            state.account = account
            let rate = (options.sampleRates[name] ?? 1) * state.sampleRate
            guard rate >= 1 || Double.random(in: 0..<1, using: &state.generator) < rate else {
                state.lost[.sampled, default: 0] += 1
                return (addition, addition.receipt as ActionReceipt?)
            }
            if let last = state.lastRecording, now - last > options.sessionTimeout { state.session = UUID() }
            state.lastRecording = now
            state.records.append(
                ActionRecord(
                    receipt: addition.receipt, name: name, properties: properties, account: account,
                    session: state.session, date: date, uptime: uptimeOrigin + now, priority: priority))
            return (addition, state.evicted(maximumCount: options.maximumBufferedCount))
        }
        dropped?.settle(
            .failure(
                StorageError(.rejected, "The record was not stored: it was not sampled, or the memory for it is full."))
        )
        signal.yield()
        return addition
    }

    /// How often records were erased: those that were read before may be among them.
    var erasures: Int { state.withLock { $0.erasures } }

    /// Returns the oldest records, which stay here until they are removed, and ``erasures``.
    func first(_ maximumCount: Int) -> ([ActionRecord], erasures: Int) {
        state.withLock { (Array($0.records.prefix(maximumCount)), $0.erasures) }
    }

    /// Removes records that are on disk, or that were rejected.
    func remove(_ ids: Set<UUID>, rejected: Int) {
        state.withLock { state in
            state.records.removeAll { ids.contains($0.receipt.id) }
            if rejected > 0 { state.lost[.rejected, default: 0] += rejected }
        }
    }

    /// Removes the records of an account.
    func erase(_ account: String) {
        let erased = state.withLock { state in
            let erased = state.records.filter { $0.account == account }
            state.records.removeAll { $0.account == account }
            state.erasures += 1
            return erased
        }
        for record in erased { record.receipt.settle(.failure(StorageError(.rejected, "The record was erased."))) }
    }

    /// Waits until the writer has tried to write all that is here now.
    func pass() async {
        await withCheckedContinuation { continuation in
            let isFinished = state.withLock { state in
                if !state.isFinished { state.passes.append(continuation) }
                return state.isFinished
            }
            if isFinished { continuation.resume() } else { signal.yield() }
        }
    }

    /// Runs one pass of the writer for those who wait for it.
    func perform(_ pass: () async -> Void) async {
        let waiters = state.withLock { state in
            defer { state.passes = [] }
            return state.passes
        }
        await pass()
        for waiter in waiters { waiter.resume() }
    }

    /// Ends ``additions`` after what was added. Records that come later are not written.
    func finish() {
        state.withLock { $0.isFinished = true }
        signal.finish()
    }
}

extension RecordBuffer.State {
    /// Removes the oldest record of the lowest priority if there are too many, and returns its receipt.
    fileprivate mutating func evicted(maximumCount: Int) -> ActionReceipt? {
        guard records.count > max(1, maximumCount),
            let lowest = records.indices.min(by: { (records[$0].priority, $0) < (records[$1].priority, $1) })
        else { return nil }
        lost[.memory, default: 0] += 1
        return records.remove(at: lowest).receipt
    }
}
