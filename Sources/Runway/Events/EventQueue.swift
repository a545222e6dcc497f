import Dispatch
import Synchronization

/// Passes the records of finished calls to the event sinks, so that the calls themselves need not wait for sinks.
final class EventQueue: Sendable {
    /// The maximum number of pending records. Later records are dropped.
    static let maximumPendingRecords = 4096
    /// The maximum time that a record waits before it is passed on in a batch. Batches save time, because waking a
    /// thread costs more than creating a record.
    static let maximumDelay = Duration.milliseconds(10)

    /// One call whose record the sinks have not received yet.
    private struct Entry {
        var flight: Flight
        var isAmendment: Bool
    }

    private struct State {
        var pending: [Entry] = []
        /// The number of records that the sinks are receiving.
        var delivering = 0
        var isDraining = false
        var dropped = 0
        /// The number of records that were enqueued. `delivered` counts the records that the sinks have received.
        var taken: UInt64 = 0
        var delivered: UInt64 = 0
        var waiters: [UInt64: (awaited: UInt64, continuation: CheckedContinuation<Void, Never>)] = [:]
        var waiterCount: UInt64 = 0

        /// Removes and returns the waiters whose records have been received by all sinks.
        mutating func takeSatisfied() -> [CheckedContinuation<Void, Never>] {
            let satisfied = waiters.filter { $0.value.awaited <= delivered }
            for id in satisfied.keys { waiters[id] = nil }
            return satisfied.values.map(\.continuation)
        }
    }

    private let sinks: [any EventSink]
    private let redaction: Redaction
    /// The queue has its own thread: a sink that blocks must not occupy one of the few threads of Swift's tasks.
    private let thread = DispatchQueue(label: "runway.events", qos: .utility)
    /// Guards the pending records and the waiters.
    private let state = Mutex(State())

    init(sinks: [any EventSink], redaction: Redaction) {
        self.sinks = sinks
        self.redaction = redaction
    }

    /// The number of records that were dropped because sinks were slow.
    var droppedRecordCount: Int { state.withLock { $0.dropped } }

    /// Waits until the sinks have received every record that was enqueued before this call, or until the task is
    /// cancelled.
    func flush() async {
        let id = state.withLock { state in
            state.waiterCount += 1
            return state.waiterCount
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    // A task is marked as cancelled before its cancellation handler runs. So either this check sees the
                    // cancellation, or the handler finds the waiter.
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
            // All calls of a layer share a clock, so one reading of the clock serves the whole batch.
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

    /// Removes and returns the pending records. Returns `nil` if there are none, which ends the loop.
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
