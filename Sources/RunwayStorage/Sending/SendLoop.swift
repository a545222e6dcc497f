import Runway
import Synchronization

/// Performs the decisions of a ``SendSchedule``, one attempt at a time. Resumes the tasks that wait for a flush.
final class SendLoop<Policy: SendPolicy>: Sendable {
    private struct State {
        var schedule: SendSchedule<Policy>
        var flushes: [Race<Void>] = []
        /// The number of flushes that were requested before the last decision. They end when it is carried out.
        var decidedFlushCount = 0
        var isFinished = false
    }

    private let clock: LayerClock
    private let gap: Duration
    private let events: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation
    /// Guards the schedule and the waiting flushes.
    private let state: Mutex<State>

    init(_ policy: Policy, _ pace: SendPace, isNetworkAllowed: Bool, clock: LayerClock) {
        self.clock = clock
        gap = pace.gap
        state = Mutex(State(schedule: SendSchedule(policy, pace, isNetworkAllowed: isNetworkAllowed)))
        (events, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Reads or changes the schedule. The loop makes no new decision before ``wake()``.
    func schedule<Value: Sendable>(_ use: (inout SendSchedule<Policy>) -> Value) -> Value {
        state.withLock { use(&$0.schedule) }
    }

    func wake() { signal.yield() }

    func change(_ change: (inout SendSchedule<Policy>) -> Void) {
        schedule(change)
        wake()
    }

    /// Sends the waiting entries. Returns when all are sent, or when an attempt failed. If the task is cancelled, the
    /// function returns, and sending continues.
    ///
    /// - Parameter waits: Whether the function waits at all. The default is `true`.
    func flush(waits: Bool = true) async {
        let end = Race<Void>()
        let isFinished = state.withLock { state in
            if state.isFinished { return true }
            state.schedule.prompt()
            state.schedule.policy.note(.flushing(true))
            if waits { state.flushes.append(end) }
            return false
        }
        if isFinished { return }
        wake()
        if waits { await end.wait(onCancel: ()) }
    }

    func run(_ work: some SendWork) async {
        var iterator = events.makeAsyncIterator()
        var grace: GraceHold?
        defer { grace?.end() }
        while !Task.isCancelled {
            state.withLock { $0.decidedFlushCount = $0.flushes.count }
            switch await work.decide() {
            case .send(let scope):
                // Background time is requested before anything is read. Without it, the system may suspend the app at
                // any moment. The previous grant may have expired, and is held until the new one has begun.
                let former = grace
                grace = work.beginGrace()
                former?.end()
                await work.send(scope)
            case .wait(let instant):
                // A short gap between two attempts ends neither a flush nor the background time.
                if instant.map({ $0 > clock.now + gap }) ?? true {
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
                _ = await iterator.next()
            }
        }
        resumeFlushes(isFinished: true)
    }

    /// Ends the flushes that began before the last decision, or all flushes if `isFinished` is `true`.
    private func resumeFlushes(isFinished: Bool = false) {
        let flushes = state.withLock { state in
            if isFinished { state.isFinished = true }
            let count = isFinished ? state.flushes.count : state.decidedFlushCount
            defer {
                state.flushes.removeFirst(count)
                state.decidedFlushCount = 0
                if state.flushes.isEmpty { state.schedule.policy.note(.flushing(false)) }
            }
            return state.flushes.prefix(count)
        }
        for flush in flushes { flush.finish(()) }
    }
}

protocol SendWork: Sendable {
    /// Asks the system for background time. Returns `nil` if the app can't have any.
    func beginGrace() -> GraceHold?
    /// Reads the necessary data, and returns the next step of the schedule.
    func decide() async -> SendStep
    /// Sends the first entries of a scope (an account), and records the outcome in the schedule.
    func send(_ scope: String) async
}
