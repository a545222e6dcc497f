import Synchronization

/// Observes the network status for a layer: reports changes, and lets calls wait for a network.
final class NetworkStatusMonitor: Sendable {
    private struct State {
        /// The status that was reported last.
        var reported: NetworkStatus
        /// Whether a thread is reporting a change.
        var isReporting = false
        /// The number of changes that the source has reported.
        var reportCount: UInt64 = 0
        var waiting: [UInt64: CheckedContinuation<WaitEnd, Never>] = [:]
        var readers: [UInt64: AsyncStream<NetworkStatus>.Continuation] = [:]
        /// The number of waiters and readers so far, used to number them.
        var count: UInt64 = 0
        var observation: NetworkStatusObservation?
    }

    private let source: any NetworkStatusSource
    /// Guards the reported status, the waiters, and the observation of the source.
    private let state: Mutex<State>

    init(_ source: any NetworkStatusSource) {
        self.source = source
        state = Mutex(State(reported: source.current))
    }

    deinit {
        for reader in state.withLock({ Array($0.readers.values) }) { reader.finish() }
    }

    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// The current status, read from the source.
    var current: NetworkStatus { source.current }

    /// Starts to observe. `onChange` is called once for every change.
    func start(onChange: @escaping @Sendable (NetworkStatus) -> Void) {
        let observation = source.observe { [weak self] in self?.follow(onChange) }
        state.withLock { $0.observation = observation }
    }

    private func follow(_ onChange: (NetworkStatus) -> Void) {
        // Only one thread reports at a time. Otherwise the older of two statuses could be reported last.
        let isReporting = state.withLock { state in
            state.reportCount += 1
            defer { state.isReporting = true }
            return state.isReporting
        }
        if isReporting { return }
        while let (status, released) = nextReport() {
            onChange(status)
            for continuation in released { continuation.resume(returning: .granted) }
        }
    }

    /// Returns the status to report and the waiters to resume, or `nil` if nothing has changed, which ends the
    /// reporting.
    private func nextReport() -> (NetworkStatus, [CheckedContinuation<WaitEnd, Never>])? {
        while true {
            let reportCount = state.withLock { $0.reportCount }
            let status = source.current
            let (isNew, isOver, released) = state.withLock { state in
                guard state.reported != status else {
                    // If a report arrived after the status was read, this thread must read the status again.
                    let isOver = state.reportCount == reportCount
                    if isOver { state.isReporting = false }
                    return (false, isOver, [CheckedContinuation<WaitEnd, Never>]())
                }
                state.reported = status
                // Readers receive the status under the lock, and ``statuses()`` starts under the same lock. So no
                // reader receives an older status after a newer one.
                for reader in state.readers.values { reader.yield(status) }
                guard status.isReachable else { return (true, false, []) }
                defer { state.waiting = [:] }
                return (true, false, state.waiting.sorted { $0.key < $1.key }.map(\.value))
            }
            if isNew { return (status, released) }
            if isOver { return nil }
        }
    }

    /// Yields the last reported status, followed by every later one, until the monitor is released.
    func statuses() -> AsyncStream<NetworkStatus> {
        let (statuses, reader) = AsyncStream.makeStream(of: NetworkStatus.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.count += 1
            state.readers[state.count] = reader
            reader.yield(state.reported)
            return state.count
        }
        reader.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.readers.removeValue(forKey: number) }
        }
        return statuses
    }

    /// Waits until there is a network.
    ///
    /// - Parameter maximumCount: The maximum number of waiting calls. Further calls are refused.
    func waitUntilReachable(_ flight: Flight, maximumCount: Int) async -> WaitEnd {
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        return await flight.wait { continuation in
            let isEnqueued = state.withLock { state in
                guard state.waiting.count < maximumCount else { return false }
                state.waiting[number] = continuation
                return true
            }
            guard isEnqueued else { return .refused }
            // The status is read after the waiter is enqueued, so that no change in between is missed.
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
