import Dispatch
import Synchronization

/// Carries finished flights to the sinks, off the path of the calls.
public final class EventQueue: Sendable {
    /// The most records that wait for slow sinks; later ones are dropped.
    public static let maximumPendingRecords = 4096
    /// The longest that a record waits for others to be carried with it, since waking a thread costs more than making a record.
    public static let maximumDelay = Duration.milliseconds(10)

    private struct State {
        var pending: [Flight] = []
        var isDraining = false
        var dropped = 0
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var waiterCount: UInt64 = 0
    }

    private let sinks: [any EventSink]
    private let redaction: Redaction
    /// A thread of its own: a sink that blocks must not hold one of the few threads that tasks share.
    private let thread = DispatchQueue(label: "runway.events", qos: .utility)
    /// Guards what waits, and whether it will be carried.
    private let state = Mutex(State())

    init(sinks: [any EventSink], redaction: Redaction) {
        self.sinks = sinks
        self.redaction = redaction
    }

    /// How many records were dropped because sinks were slow.
    public var droppedRecordCount: Int { state.withLock { $0.dropped } }

    /// Waits until the sinks have every record that was made so far, or the task is cancelled.
    public func flush() async {
        let id = state.withLock { state in
            state.waiterCount += 1
            return state.waiterCount
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    // A task is marked cancelled before its handler runs: either this sees it, or the handler finds the waiter.
                    guard state.isDraining, !Task.isCancelled else { return false }
                    state.waiters[id] = continuation
                    return true
                }
                if mustWait { thread.async { self.drain() } } else { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
        }
    }

    func enqueue(_ flight: Flight) {
        if sinks.isEmpty { return }
        let mustStart = state.withLock { state in
            guard state.pending.count < Self.maximumPendingRecords else {
                state.dropped += 1
                return false
            }
            state.pending.append(flight)
            defer { state.isDraining = true }
            return !state.isDraining
        }
        if mustStart { thread.asyncAfter(deadline: .now() + Self.maximumDelay / .seconds(1)) { self.drain() } }
    }

    private func drain() {
        while let batch = nextBatch() {
            for flight in batch {
                let record = flight.record(redaction)
                for sink in sinks { sink.receive(record) }
            }
        }
    }

    /// What waits; `nil`, and the end of draining, where nothing does.
    private func nextBatch() -> [Flight]? {
        let (batch, waiters) = state.withLock { state in
            defer { state.pending = [] }
            guard state.pending.isEmpty else {
                return (state.pending as [Flight]?, [] as [CheckedContinuation<Void, Never>])
            }
            state.isDraining = false
            defer { state.waiters = [:] }
            return (nil, Array(state.waiters.values))
        }
        for waiter in waiters { waiter.resume() }
        return batch
    }
}
