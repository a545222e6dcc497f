import Synchronization

/// Passes the progress of one transfer to the main actor, at most thirty times a second. If reports come faster, the
/// latest counts.
final class ProgressRelay: Sendable {
    /// The minimum time between two deliveries: a thirtieth of a second.
    static let interval = Duration.nanoseconds(33_333_334)

    fileprivate struct State {
        /// The latest report that was not delivered.
        var pending: TransferProgress?
        var lastDelivery: Duration?
        /// The task that delivers the pending reports and waits between two deliveries; `nil` if no report is pending.
        var task: Task<Void, Never>?
        var hasEnded = false
    }

    private let clock: LayerClock
    private let deliver: @MainActor @Sendable (TransferProgress) -> Void
    /// Guards the pending report and the times of deliveries.
    private let state = Mutex(State())

    init(clock: LayerClock, deliver: @escaping @MainActor @Sendable (TransferProgress) -> Void) {
        self.clock = clock
        self.deliver = deliver
    }

    /// Delivers a report as soon as enough time has passed since the last delivery.
    func report(_ progress: TransferProgress) {
        state.withLock { state in
            if state.hasEnded { return }
            state.pending = progress
            if state.task == nil { state.task = Task { @MainActor in await self.deliverPending() } }
        }
    }

    /// Delivers the last report, unless it was already delivered. No report is delivered afterwards.
    @MainActor func end() {
        let last = state.withLock { state in
            state.hasEnded = true
            state.task?.cancel()
            return state.pending.take()
        }
        if let last { deliver(last) }
    }

    @MainActor private func deliverPending() async {
        while let due = state.withLock({ $0.nextDelivery }) {
            if due > clock.now {
                do { try await clock.sleep(until: due) } catch { return }
            }
            let now = clock.now
            let progress = state.withLock { state in
                state.lastDelivery = now
                return state.pending.take()
            }
            if let progress { deliver(progress) }
        }
    }
}

extension ProgressRelay.State {
    /// The time at which the pending report may be delivered. `nil` if none is pending; the task then ends.
    fileprivate var nextDelivery: Duration? {
        mutating get {
            guard pending != nil else {
                task = nil
                return nil
            }
            return lastDelivery.map { $0 + ProgressRelay.interval } ?? .zero
        }
    }
}
