import Synchronization

/// The calls that no caller waits for: revalidations of stale responses, and prefetches. There is at most one for each
/// key.
final class BackgroundFlights: Sendable {
    /// The maximum number of these calls in flight at once. While that many are in flight, no further call is started,
    /// and a stale response stays stale until the next call.
    static let maximumCount = 64

    private struct Running {
        var flight: FlightID
        var task: Task<Void, Never>
    }

    enum Start: Equatable {
        case started
        /// A call for the same key is already in flight.
        case running(FlightID)
        /// Too many such calls are in flight.
        case refused
    }

    /// Guards the calls in flight, by key.
    private let running = Mutex<[CacheKey: Running]>([:])

    var count: Int { running.withLock { $0.count } }

    deinit {
        running.withLock { running in
            for flight in running.values { flight.task.cancel() }
        }
    }

    /// Returns whether no call can be started for the key: one is already in flight, or there are too many.
    func isRunning(_ key: CacheKey) -> Bool {
        running.withLock { $0[key] != nil || $0.count >= Self.maximumCount }
    }

    /// Starts the work of a call in a task of its own.
    func start(_ key: CacheKey, flight: FlightID, _ work: @escaping @Sendable () async -> Void) -> Start {
        running.withLock { running in
            if let other = running[key] { return .running(other.flight) }
            guard running.count < Self.maximumCount else { return .refused }
            // The task is created under the lock, so that it is listed before it can end and remove itself.
            let task = Task { @concurrent [weak self] in
                await work()
                self?.remove(key, flight)
            }
            running[key] = Running(flight: flight, task: task)
            return .started
        }
    }

    /// Cancels a call if it is in flight.
    func cancel(_ flight: FlightID) {
        let task: Task<Void, Never>? = running.withLock { running in
            let key = running.first { $0.value.flight == flight }?.key
            return key.flatMap { running.removeValue(forKey: $0) }?.task
        }
        task?.cancel()
    }

    /// Cancels the calls whose responses would not be stored.
    func cancel(where predicate: (CacheKey) -> Bool) {
        let cancelled = running.withLock { running in
            let cancelled = running.filter { predicate($0.key) }
            for key in cancelled.keys { running[key] = nil }
            return cancelled
        }
        for flight in cancelled.values { flight.task.cancel() }
    }

    private func remove(_ key: CacheKey, _ flight: FlightID) {
        running.withLock { running in
            if running[key]?.flight == flight { running[key] = nil }
        }
    }
}

extension Flight {
    /// Starts a call that nobody waits for, to revalidate the stale response that this call received.
    ///
    /// No call is started if one is in flight for the key, or if there are too many. This call's record then shows why.
    /// If the account or the environment of the service has changed since this call was made, the new call is cancelled
    /// before it sends a request.
    ///
    /// - Parameters:
    ///   - key: The key of the stale response.
    ///   - makeFlight: Creates the flight of the new call.
    ///   - work: Runs the new call until it ends.
    func startRevalidation(
        of key: CacheKey, in makeFlight: () -> Flight, work: @escaping @Sendable (Flight) async -> Void
    ) {
        let background = context.cache.background
        if background.isRunning(key) { return note(CacheDecision.revalidationSkipped) }
        let flight = makeFlight()
        flight.setRevalidated(cachedResponse)
        flight.note(CacheDecision.revalidatingFor(id))
        guard flight.session == session, flight.environment == environment else {
            flight.finish(.cancelled)
            return
        }
        if background.start(key, flight: flight.id, { await work(flight) }) == .started { return }
        note(CacheDecision.revalidationSkipped)
        flight.finish(.cancelled)
    }
}
