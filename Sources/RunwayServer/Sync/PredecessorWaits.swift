import RunwaySyncCore
import Synchronization

/// Packets whose predecessors have not arrived yet, because requests of one device overtook each other (rule 4).
///
/// A packet waits for at most 5 s, outside any transaction. At most 100 packets, or 1 MiB of them, wait in a process;
/// a further one is refused at once.
final class PredecessorWaits: Sendable {
    struct Key: Hashable {
        let space: Identifier
        let device: Identifier
    }

    private struct State {
        var count = 0
        var byteCount = 0
        /// The packets that wait, by an id of their own.
        var signals: [Key: [Int: AsyncStream<Void>.Continuation]] = [:]
        var lastID = 0
    }

    static let longestWait = Duration.seconds(5)
    /// The time after which a packet is tried again without a signal: its predecessor may arrive at another process.
    private static let pause = Duration.seconds(1)
    private static let maximumCount = 100
    private static let maximumByteCount = 1 << 20

    /// Guards the waiting packets.
    private let state = Mutex(State())
    private let clock: HubClock

    init(_ clock: HubClock) { self.clock = clock }

    /// Repeats `attempt` when the device has made progress, until it returns another response than a gap or the time is
    /// over.
    ///
    /// - Parameter byteCount: The size of the packet.
    /// - Returns: The last response; `nil` if too many packets wait already.
    func wait(
        _ key: Key, byteCount: Int, _ attempt: () async throws -> SyncResponse
    ) async throws -> SyncResponse? {
        guard let id = enter(byteCount) else { return nil }
        defer { leave(key, byteCount, id) }
        let end = clock.now + Self.longestWait
        while true {
            // The signal is registered before the attempt, so that progress after it is not missed. Each wait has a
            // stream of its own, since the end of a wait finishes its stream.
            let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            state.withLock { $0.signals[key, default: [:]][id] = signal }
            let response = try await attempt()
            guard case .gap = response, clock.now < end else { return response }
            try await sleep(min(Self.pause, end - clock.now), or: signals)
        }
    }

    /// Wakes the packets of a device.
    func notify(_ key: Key) {
        state.withLock { state in
            for signal in state.signals[key, default: [:]].values { signal.yield() }
        }
    }

    private func sleep(_ duration: Duration, or signals: AsyncStream<Void>) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [clock] in try await clock.sleep(duration) }
            group.addTask { for await _ in signals { return } }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func enter(_ byteCount: Int) -> Int? {
        state.withLock { state in
            guard state.count < Self.maximumCount, state.byteCount + byteCount <= Self.maximumByteCount else {
                return nil
            }
            state.count += 1
            state.byteCount += byteCount
            state.lastID += 1
            return state.lastID
        }
    }

    private func leave(_ key: Key, _ byteCount: Int, _ id: Int) {
        state.withLock { state in
            state.count -= 1
            state.byteCount -= byteCount
            state.signals[key]?[id] = nil
            if state.signals[key]?.isEmpty == true { state.signals[key] = nil }
        }
    }
}
