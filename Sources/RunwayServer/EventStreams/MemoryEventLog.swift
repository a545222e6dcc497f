import Synchronization

/// Stores the last events in memory. After a restart of the process, a new epoch begins and clients receive a reset.
public final class MemoryEventLog: EventLog {
    private struct State {
        var events: [PublishedEvent] = []
        var first: Int64 = 1
        var byteCount = 0
    }

    private let epoch = EventLogRange.newEpoch()
    /// The fixed cost of an event in bytes, in addition to its texts.
    private static let costOfEvent = 64

    private let maximumCount: Int
    private let maximumByteCount: Int
    /// Guards the events.
    private let state = Mutex(State())

    /// Creates an empty log, limited in number and size; the oldest events are removed first.
    ///
    /// - Parameters:
    ///   - maximumCount: The maximum number of events, at least 1. The default is 10,000.
    ///   - maximumByteCount: The maximum size of the events' texts in bytes. The last event is never removed. The
    ///     default is 64 MiB.
    public init(maximumCount: Int = 10_000, maximumByteCount: Int = 64 << 20) {
        self.maximumCount = max(1, maximumCount)
        self.maximumByteCount = maximumByteCount
    }

    /// Returns the range of events in the log.
    public func range() -> EventLogRange { state.withLock { range($0) } }

    /// Stores events with the next offsets.
    public func append(_ events: [PublishedEvent]) -> EventLogRange {
        state.withLock { state in
            state.events += events
            state.byteCount += events.reduce(0) { $0 + Self.cost(of: $1) }
            // The oldest tenth is removed in one step, since each removal moves the remaining events.
            if state.events.count > maximumCount + maximumCount / 10 {
                remove(state.events.count - maximumCount, &state)
            }
            while state.events.count > 1, state.byteCount > maximumByteCount {
                remove(max(1, state.events.count / 10), &state)
            }
            return range(state)
        }
    }

    private func remove(_ count: Int, _ state: inout State) {
        state.byteCount -= state.events.prefix(count).reduce(0) { $0 + Self.cost(of: $1) }
        state.events.removeFirst(count)
        state.first += Int64(count)
    }

    private static func cost(of event: PublishedEvent) -> Int {
        event.topic.utf8.count + event.type.utf8.count + event.data.utf8.count + costOfEvent
    }

    /// Returns the events after an offset, up to the event at which their data reach ``EventHub/maximumReadByteCount``.
    public func events(
        after offset: Int64, upTo maximumCount: Int
    ) -> (first: Int64, events: [PublishedEvent]) {
        state.withLock { state in
            let first = max(offset + 1, state.first)
            let index = Int(clamping: first - state.first)
            guard index < state.events.count else { return (first, []) }
            var byteCount = 0
            let page = state.events[index...].prefix(maximumCount).prefix { event in
                defer { byteCount += event.data.utf8.count }
                return byteCount < EventHub.maximumReadByteCount
            }
            return (first, Array(page))
        }
    }

    private func range(_ state: State) -> EventLogRange {
        EventLogRange(epoch: epoch, first: state.first, last: state.first + Int64(state.events.count) - 1)
    }
}
