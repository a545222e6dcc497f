import RunwayServer
import RunwayTesting
import Synchronization

/// A log that several hubs share. While it hangs, reads take no notice of their cancellation; while it fails, they throw.
final class TestedEventLog: SharedEventLog {
    enum Mode { case responding, hanging, failing }

    struct Failed: Error {}

    private struct State {
        var mode = Mode.responding
        var reads: [CheckedContinuation<Void, Never>] = []
        var listeners: [AsyncStream<String>.Continuation] = []
        /// When each lease ends.
        var leases: [String: ManualClock.Instant] = [:]
        /// The leases under which each member is present, by its topic and name.
        var present: [[String]: Set<String>] = [:]

        /// Whether one of these leases has not ended.
        func lasts(_ leases: Set<String>, at now: ManualClock.Instant) -> Bool {
            leases.contains { lease in self.leases[lease].map { $0 > now } ?? false }
        }

        /// Returns whether the change holds for all leases: those that last if a member comes, and all if one goes.
        mutating func record(_ change: PresenceChange, under lease: String, at now: ManualClock.Instant) -> Bool {
            let key = [change.topic, change.member]
            let before = present[key] ?? []
            let after = change.isPresent ? before.union([lease]) : before.subtracting([lease])
            present[key] = after.isEmpty ? nil : after
            return change.isPresent ? !lasts(before, at: now) : !before.isEmpty && after.isEmpty
        }

        /// Removes at most so many members of leases that have ended, and leases without members; returns who left with them.
        mutating func removeLeases(at now: ManualClock.Instant, upTo count: Int) -> [PresenceChange] {
            var left: [PresenceChange] = []
            for lease in leases.filter({ $0.value <= now }).keys {
                for key in present.filter({ $0.value.contains(lease) }).keys {
                    if left.count == count { return left }
                    let change = PresenceChange(topic: key[0], member: key[1], isPresent: false)
                    if record(change, under: lease, at: now) { left.append(change) }
                }
                leases[lease] = nil
            }
            return left
        }
    }

    /// Times the leases.
    let clock = ManualClock()
    private let log: MemoryEventLog
    /// Guards the mode, the reads that hang, who listens, and who is present.
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
        await waitWhileHanging()
        if state.withLock({ $0.mode == .failing }) { throw Failed() }
        return log.events(after: offset, upTo: maximumCount)
    }

    private func waitWhileHanging() async {
        await withCheckedContinuation { continuation in
            let hangs = state.withLock { state in
                if state.mode == .hanging { state.reads.append(continuation) }
                return state.mode == .hanging
            }
            if !hangs { continuation.resume() }
        }
    }

    func signal(_ text: String) { for listener in state.withLock({ $0.listeners }) { listener.yield(text) } }

    func signals() -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        state.withLock { $0.listeners.append(continuation) }
        return stream
    }

    /// When the leases end.
    var leaseEnds: [ManualClock.Instant] { state.withLock { $0.leases.values.sorted() } }

    func beginPresence(under lease: String, for duration: Duration) throws {
        try state.withLock { state in
            if state.mode == .failing { throw Failed() }
            state.leases[lease] = clock.now.advanced(by: duration)
        }
    }

    func renewPresence(
        under lease: String, for duration: Duration, _ changes: [PresenceChange], leaving maximumCount: Int
    ) throws -> (publishedCount: Int, isComplete: Bool) {
        let renewal = try state.withLock { state in
            guard state.mode != .failing, let end = state.leases[lease], end > clock.now else { throw Failed() }
            state.leases[lease] = clock.now.advanced(by: duration)
            let recorded = changes.filter { state.record($0, under: lease, at: clock.now) }
            let left = state.removeLeases(at: clock.now, upTo: maximumCount)
            let epoch = log.range().epoch
            if !(recorded + left).isEmpty { _ = log.append((recorded + left).map { $0.event(of: epoch) }) }
            return (recorded.count + left.count, left.count < maximumCount)
        }
        signal("")
        return renewal
    }

    func present(in topic: String, upTo maximumCount: Int) async -> [String] {
        await waitWhileHanging()
        let members = state.withLock { state in
            state.present.filter { $0.key[0] == topic && state.lasts($0.value, at: clock.now) }.map { $0.key[1] }
        }
        return Array(members.sorted().prefix(maximumCount))
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
