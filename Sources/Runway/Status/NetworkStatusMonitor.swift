import Synchronization

/// A layer's view of its network status: tells of changes, and lets calls wait for a network.
final class NetworkStatusMonitor: Sendable {
    private struct State {
        /// The status that was told last.
        var told: NetworkStatus
        var waiting: [UInt64: CheckedContinuation<WaitEnd, Never>] = [:]
        var count: UInt64 = 0
        var observation: NetworkStatusObservation?
    }

    private let source: any NetworkStatusSource
    /// Guards what was told, who waits, and the observation of the source.
    private let state: Mutex<State>

    init(_ source: any NetworkStatusSource) {
        self.source = source
        state = Mutex(State(told: source.current))
    }

    /// How many calls wait for a network.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// The status now, from the source itself.
    var current: NetworkStatus { source.current }

    /// Starts to watch; `onChange` is called once for every change.
    func start(onChange: @escaping @Sendable (NetworkStatus) -> Void) {
        let observation = source.observe { [weak self] in self?.follow(onChange) }
        state.withLock { $0.observation = observation }
    }

    private func follow(_ onChange: (NetworkStatus) -> Void) {
        // Asked again after each telling: two threads that report at once must not leave the older status as the last one told.
        while true {
            let status = source.current
            let (isNew, released) = state.withLock { state in
                guard state.told != status else { return (false, [CheckedContinuation<WaitEnd, Never>]()) }
                state.told = status
                guard status.isReachable else { return (true, []) }
                defer { state.waiting = [:] }
                return (true, state.waiting.sorted { $0.key < $1.key }.map(\.value))
            }
            guard isNew else { return }
            onChange(status)
            for continuation in released { continuation.resume(returning: .granted) }
        }
    }

    /// Waits until there is a network.
    ///
    /// - Parameter maximumCount: The most calls that may wait; further ones are refused.
    func waitUntilReachable(_ flight: Flight, maximumCount: Int) async -> WaitEnd {
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        return await flight.wait { continuation in
            let isKept = state.withLock { state in
                guard state.waiting.count < maximumCount else { return false }
                state.waiting[number] = continuation
                return true
            }
            guard isKept else { return .refused }
            // Asked after the continuation is kept, so that no change falls between the two.
            if source.current.isReachable { end(number, .granted) }
            return nil
        } leave: { [weak self] end in
            self?.end(number, end)
        }
    }

    private func end(_ number: UInt64, _ end: WaitEnd) {
        state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(returning: end)
    }
}
