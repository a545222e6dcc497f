import Synchronization

/// The flights that belong to no caller: those that fetch anew what landed stale, and those that fetch ahead. One for each key.
final class BackgroundFlights: Sendable {
    /// The most that fly at once. Beyond it none takes off: what is stale stays so until the next call for it.
    static let maximumCount = 64

    private struct Running {
        var flight: FlightID
        var task: Task<Void, Never>
    }

    /// What became of the wish to fly.
    enum Start: Equatable {
        case started
        /// One flies already for the same key.
        case running(FlightID)
        /// There are too many.
        case refused
    }

    /// Guards the flights in the air.
    private let running = Mutex<[CacheKey: Running]>([:])

    /// How many are in the air.
    var count: Int { running.withLock { $0.count } }

    deinit {
        running.withLock { running in
            for flight in running.values { flight.task.cancel() }
        }
    }

    /// Whether a flight for a key is in the air, or there is room for no more.
    func isFlying(_ key: CacheKey) -> Bool {
        running.withLock { $0[key] != nil || $0.count >= Self.maximumCount }
    }

    /// Starts the work of a flight in a task of its own.
    func start(_ key: CacheKey, flight: FlightID, _ work: @escaping @Sendable () async -> Void) -> Start {
        running.withLock { running in
            if let other = running[key] { return .running(other.flight) }
            guard running.count < Self.maximumCount else { return .refused }
            // Made under the lock, so that a task that ends at once finds itself here to be taken out.
            let task = Task { @concurrent [weak self] in
                await work()
                self?.remove(key, flight)
            }
            running[key] = Running(flight: flight, task: task)
            return .started
        }
    }

    /// Cancels one flight, if it is in the air.
    func cancel(_ flight: FlightID) {
        let task: Task<Void, Never>? = running.withLock { running in
            let key = running.first { $0.value.flight == flight }?.key
            return key.flatMap { running.removeValue(forKey: $0) }?.task
        }
        task?.cancel()
    }

    /// Cancels the flights whose answers would not be kept.
    func cancel(where isMeant: (CacheKey) -> Bool) {
        let cancelled = running.withLock { running in
            let cancelled = running.filter { isMeant($0.key) }
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
