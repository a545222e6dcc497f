import Synchronization

/// Stores the last events in memory. A process that starts again begins a new numbering, and clients receive a reset.
public final class MemoryEventLog: EventLog {
    private struct State {
        var events: [PublishedEvent] = []
        /// The offset of the first event.
        var first: Int64 = 1
    }

    private let epoch = EventLogRange.newEpoch()
    private let maximumCount: Int
    /// Guards the events.
    private let state = Mutex(State())

    /// Creates an empty log.
    ///
    /// - Parameter maximumCount: The most events that are stored, at least 1. The default is 10,000.
    public init(maximumCount: Int = 10_000) { self.maximumCount = max(1, maximumCount) }

    /// Which events the log has.
    public func range() -> EventLogRange { state.withLock { range($0) } }

    /// Stores events with the next offsets.
    public func append(_ events: [PublishedEvent]) -> EventLogRange {
        state.withLock { state in
            state.events += events
            // The oldest are removed a tenth at a time, since removing moves the others.
            if state.events.count > maximumCount + maximumCount / 10 {
                let count = state.events.count - maximumCount
                state.events.removeFirst(count)
                state.first += Int64(count)
            }
            return range(state)
        }
    }

    /// Returns events after an offset.
    public func events(
        after offset: Int64, upTo maximumCount: Int
    ) -> (first: Int64, events: [PublishedEvent]) {
        state.withLock { state in
            let first = max(offset + 1, state.first)
            let index = Int(clamping: first - state.first)
            guard index < state.events.count else { return (first, []) }
            return (first, Array(state.events[index...].prefix(maximumCount)))
        }
    }

    private func range(_ state: State) -> EventLogRange {
        EventLogRange(epoch: epoch, first: state.first, last: state.first + Int64(state.events.count) - 1)
    }
}
