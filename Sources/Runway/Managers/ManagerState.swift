import Observation
import Synchronization

/// The state of a manager, which its machine decides and views observe.
///
/// A manager is generic. Key paths into a generic class, which observation needs, are created at every use and take
/// microseconds each; key paths into this class are constants.
@MainActor @Observable
final class ManagerState {
    // The machine is pure: no method of it reaches this object again, and no run-time exclusivity check is needed.
    @ObservationIgnored @exclusivity(unchecked) private(set) var machine: LandingMachine
    /// The number of calls in flight.
    private(set) var inFlightCount = 0
    /// The last landing: one value, since observers are notified of each change, and a landing is a single one.
    private(set) var last = LastLanding()

    init(overlap: OverlapPolicy) { machine = LandingMachine(overlap: overlap) }

    /// Passes an event to the machine, and notifies observers of the changed values.
    func update<Action>(_ event: (inout LandingMachine) -> Action) -> Action {
        // Compared with the machine before the event: reading the observed properties costs as much as the event.
        let (former, formerCount) = (machine.last, machine.inFlightCount)
        let action = event(&machine)
        if machine.inFlightCount != formerCount { inFlightCount = machine.inFlightCount }
        if !machine.last.isSame(as: former) { last = machine.last }
        return action
    }
}

/// The tasks of a manager's calls in flight, which it cancels when it is released, on whatever thread.
final class FlightTasks: Sendable {
    /// Guards the tasks of calls that have not landed.
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
