import RunwayServer
import Synchronization

/// A log that several hubs share. While it hangs, reads take no notice of their cancellation; while it fails, they throw.
final class TestedEventLog: SharedEventLog {
    enum Mode { case responding, hanging, failing }

    struct Failed: Error {}

    private struct State {
        var mode = Mode.responding
        var reads: [CheckedContinuation<Void, Never>] = []
        var listeners: [AsyncStream<String>.Continuation] = []
    }

    private let log: MemoryEventLog
    /// Guards the mode, the reads that hang, and who listens.
    private let state = Mutex(State())

    init(maximumCount: Int = 10_000) { log = MemoryEventLog(maximumCount: maximumCount) }

    /// How many reads hang.
    var hangingCount: Int { state.withLock { $0.reads.count } }

    func change(to mode: Mode) {
        let reads = state.withLock { state in
            state.mode = mode
            defer { if mode != .hanging { state.reads = [] } }
            return mode == .hanging ? [] : state.reads
        }
        for read in reads { read.resume() }
    }

    func range() -> EventLogRange { log.range() }

    func append(_ events: [PublishedEvent]) -> EventLogRange {
        defer { signal("") }
        return log.append(events)
    }

    func events(
        after offset: Int64, upTo maximumCount: Int
    ) async throws -> (first: Int64, events: [PublishedEvent]) {
        await withCheckedContinuation { continuation in
            let hangs = state.withLock { state in
                if state.mode == .hanging { state.reads.append(continuation) }
                return state.mode == .hanging
            }
            if !hangs { continuation.resume() }
        }
        if state.withLock({ $0.mode == .failing }) { throw Failed() }
        return log.events(after: offset, upTo: maximumCount)
    }

    func signal(_ text: String) { for listener in state.withLock({ $0.listeners }) { listener.yield(text) } }

    func signals() -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        state.withLock { $0.listeners.append(continuation) }
        return stream
    }
}

/// A log of one process over a shared one.
struct UnsharedLog: EventLog {
    let base: TestedEventLog

    func range() -> EventLogRange { base.range() }
    func append(_ events: [PublishedEvent]) -> EventLogRange { base.append(events) }
    func events(
        after offset: Int64, upTo maximumCount: Int
    ) async throws -> (first: Int64, events: [PublishedEvent]) {
        try await base.events(after: offset, upTo: maximumCount)
    }
}
