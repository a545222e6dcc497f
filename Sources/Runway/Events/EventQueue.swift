import Dispatch
import Synchronization

/// Passes the records of finished flights to the sinks, off the path of the calls.
final class EventQueue: Sendable {
    /// The most pending records; later ones are dropped.
    static let maximumPendingRecords = 4096
    /// The longest that a record waits for others of its batch, since waking a thread costs more than making a record.
    static let maximumDelay = Duration.milliseconds(10)

    /// One flight whose record is to be passed to the sinks.
    private struct Entry {
        var flight: Flight
        var isAmendment: Bool
    }

    private struct State {
        var pending: [Entry] = []
        /// The number of records that are being passed to the sinks now.
        var delivering = 0
        var isDraining = false
        var dropped = 0
        /// The number of records that were enqueued so far, and of those the number that the sinks have received.
        var taken: UInt64 = 0
        var delivered: UInt64 = 0
        var waiters: [UInt64: (awaited: UInt64, continuation: CheckedContinuation<Void, Never>)] = [:]
        var waiterCount: UInt64 = 0

        /// Takes out the waiters whose records the sinks have.
        mutating func takeSatisfied() -> [CheckedContinuation<Void, Never>] {
            let satisfied = waiters.filter { $0.value.awaited <= delivered }
            for id in satisfied.keys { waiters[id] = nil }
            return satisfied.values.map(\.continuation)
        }
    }

    private let sinks: [any EventSink]
    private let redaction: Redaction
    /// A thread of its own: a sink that blocks must not hold one of the few threads that tasks share.
    private let thread = DispatchQueue(label: "runway.events", qos: .utility)
    /// Guards the pending records and the waiters.
    private let state = Mutex(State())

    init(sinks: [any EventSink], redaction: Redaction) {
        self.sinks = sinks
        self.redaction = redaction
    }

    /// The number of records that were dropped because sinks were slow.
    var droppedRecordCount: Int { state.withLock { $0.dropped } }

    /// Waits until the sinks have every record that was made so far, or the task is cancelled.
    func flush() async {
        let id = state.withLock { state in
            state.waiterCount += 1
            return state.waiterCount
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    // A task is marked cancelled before its handler runs: either this sees it, or the handler finds the waiter.
                    guard state.delivered < state.taken, !Task.isCancelled else { return false }
                    state.waiters[id] = (state.taken, continuation)
                    return true
                }
                if mustWait { thread.async { self.drain() } } else { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume()
        }
    }

    func enqueue(_ flight: Flight, isAmendment: Bool = false) {
        if sinks.isEmpty { return }
        let mustStart = state.withLock { state in
            guard state.pending.count + state.delivering < Self.maximumPendingRecords else {
                state.dropped += 1
                return false
            }
            state.pending.append(Entry(flight: flight, isAmendment: isAmendment))
            state.taken += 1
            defer { state.isDraining = true }
            return !state.isDraining
        }
        if mustStart { thread.asyncAfter(deadline: .now() + Self.maximumDelay / .seconds(1)) { self.drain() } }
    }

    private func drain() {
        while let batch = nextBatch() {
            // The flights of a layer have its clock: it is read once for a batch.
            let reading = batch[0].flight.clock.reading
            for entry in batch {
                let flight = entry.flight
                var record = flight.recorder.record(of: flight, redaction, at: reading, as: .cancelled)
                record.isAmendment = entry.isAmendment
                for sink in sinks { sink.receive(record) }
            }
            let satisfied = state.withLock { state in
                state.delivered += UInt64(batch.count)
                state.delivering = 0
                return state.takeSatisfied()
            }
            for waiter in satisfied { waiter.resume() }
        }
    }

    /// Takes out the pending records. `nil` if there are none, which ends the draining.
    private func nextBatch() -> [Entry]? {
        state.withLock { state in
            if state.pending.isEmpty {
                state.isDraining = false
                return nil
            }
            defer { state.pending = [] }
            state.delivering = state.pending.count
            return state.pending
        }
    }
}
