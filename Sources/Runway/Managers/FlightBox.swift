import Synchronization

/// The tasks of a manager's flights. When the manager goes, the box goes, on whatever thread, and cancels them.
final class FlightBox: Sendable {
    /// Guards the tasks that have not landed.
    private let tasks = Mutex<[FlightID: Task<Void, Never>]>([:])

    deinit {
        tasks.withLock { tasks in
            for task in tasks.values { task.cancel() }
        }
    }

    func insert(_ task: Task<Void, Never>, for id: FlightID) {
        tasks.withLock { $0[id] = task }
    }

    func remove(_ id: FlightID) {
        tasks.withLock { _ = $0.removeValue(forKey: id) }
    }

    func cancel(_ id: FlightID) {
        tasks.withLock { $0.removeValue(forKey: id) }?.cancel()
    }
}
