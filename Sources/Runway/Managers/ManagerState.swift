import Observation
import Synchronization

/// The observable state of a manager. Its machine decides each change.
///
/// It is a separate class because observation needs key paths. A key path into a generic class, like a manager, is
/// created at every use, which takes microseconds. Key paths into this class are constants.
@MainActor @Observable
final class ManagerState {
    // No method of the machine accesses this object, so no run-time exclusivity check is needed.
    @ObservationIgnored @exclusivity(unchecked) private(set) var machine: LandingMachine
    private(set) var inFlightCount = 0
    /// The results that the manager shows. They are a single value because observers are notified of each change, and
    /// each delivery is one change.
    private(set) var last = LastLanding()

    init(overlap: OverlapPolicy) { machine = LandingMachine(overlap: overlap) }

    /// Passes an event to the state machine, and notifies observers of changed values.
    func update<Action>(_ event: (inout LandingMachine) -> Action) -> Action {
        // The values of the machine are compared, because reading the observed properties costs as much as the event.
        let (former, formerCount) = (machine.last, machine.inFlightCount)
        let action = event(&machine)
        if machine.inFlightCount != formerCount { inFlightCount = machine.inFlightCount }
        if !machine.last.isSame(as: former) { last = machine.last }
        return action
    }
}

/// The tasks of a manager's calls in flight. They are cancelled when the manager is released, on any thread.
final class FlightTasks: Sendable {
    /// Guards the tasks of calls whose results were not delivered yet.
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
