import HTTPTypes
import Synchronization

/// Admits the calls of a layer. It holds the concurrency slots, the circuit breakers of failing hosts and endpoints,
/// and the counts of identical requests.
final class AdmissionControl: Sendable {
    private struct State {
        var flood: FloodGuard
        var circuits: Circuits
        var queue: PriorityQueue
        var waiting: [UInt64: (flight: FlightID, continuation: CheckedContinuation<WaitEnd, Never>)] = [:]
        /// The number under which each call waits for a concurrency slot.
        var numbers: [FlightID: UInt64] = [:]
        /// The calls that wait for an open circuit breaker to admit them, by their waiter numbers.
        var held: [UInt64: Race<WaitEnd>] = [:]
        /// The number of times that the device has joined another network. Each join ends all waits for open circuits.
        var networkGeneration: UInt64 = 0
        /// The number of the call that began to wait most recently.
        var number: UInt64 = 0

        mutating func release(_ number: UInt64) -> CheckedContinuation<WaitEnd, Never>? {
            guard let released = waiting.removeValue(forKey: number) else { return nil }
            numbers[released.flight] = nil
            return released.continuation
        }
    }

    enum Entry {
        case admitted(Circuits.Permit)
        case refused(AdmissionRefusal)
        case hasToWait
    }

    let limits: AdmissionLimits
    /// Guards all state. A call takes the lock once before it is sent and once when it ends.
    private let state: Mutex<State>

    init(_ limits: AdmissionLimits) {
        self.limits = limits
        state = Mutex(
            State(
                flood: FloodGuard(maximumCount: limits.maximumIdenticalRequests, window: limits.floodWindow),
                circuits: Circuits(limits.circuitBreaker),
                queue: PriorityQueue(capacity: limits.maximumFlights, maximumWaiting: limits.maximumWaiting)))
    }

    /// Admits a call, or reports that the call has to wait.
    ///
    /// - Parameters:
    ///   - identity: A hash that is equal for identical requests; `nil` if repetitions of the request are not counted.
    ///   - isBypassing: Whether the call bypasses open circuits.
    func enter(
        _ identity: Int?, to target: CircuitTarget, _ priority: CallPriority, isBypassing: Bool, at now: Duration
    ) -> Entry {
        state.withLock { state in
            if let identity, let maximum = limits.maximumIdenticalRequests,
                let time = state.flood.refusal(of: identity, at: now)
            {
                return .refused(.flood(maximum: maximum, within: limits.floodWindow, refusedFor: time))
            }
            if !isBypassing, let refusal = Self.refusal(of: target, at: now, &state) { return .refused(refusal) }
            guard state.queue.enterAtOnce(priority) else { return .hasToWait }
            return .admitted(Self.admit(to: target, isBypassing, at: now, &state))
        }
    }

    /// Admits a call that waited and now has a slot. Releases the slot if the host or endpoint began to fail during the
    /// wait.
    func enterAfterWaiting(
        to target: CircuitTarget, isBypassing: Bool, at now: Duration
    ) -> Result<Circuits.Permit, AdmissionRefusal> {
        let entry: Result<Circuits.Permit, AdmissionRefusal> = state.withLock { state in
            if !isBypassing, let refusal = Self.refusal(of: target, at: now, &state) { return .failure(refusal) }
            return .success(Self.admit(to: target, isBypassing, at: now, &state))
        }
        if case .failure = entry { leave() }
        return entry
    }

    private static func refusal(
        of target: CircuitTarget, at now: Duration, _ state: inout State
    ) -> AdmissionRefusal? {
        // While no host or endpoint has failed, which is nearly always the case, no circuit breaker has to be looked
        // up.
        guard !state.circuits.isEmpty, let open = state.circuits.refusal(of: target, at: now) else { return nil }
        return .circuitOpen(
            host: target.origin.host, endpoint: open.isHostWide ? nil : target.endpoint.name, for: open.time)
    }

    private static func admit(
        to target: CircuitTarget, _ isBypassing: Bool, at now: Duration, _ state: inout State
    ) -> Circuits.Permit {
        state.circuits.isEmpty
            ? Circuits.Permit() : state.circuits.admit(to: target, at: now, isBypassing: isBypassing)
    }

    /// Waits for a concurrency slot.
    ///
    /// - Parameter isReturning: Whether the call had a slot before. Such a call is enqueued even if the queue is full.
    func waitForSlot(_ flight: Flight, _ priority: CallPriority, isReturning: Bool = false) async -> WaitEnd {
        let number = state.withLock { state in
            state.number += 1
            return state.number
        }
        return await flight.wait { continuation in
            let end: WaitEnd? = state.withLock { state in
                switch state.queue.arrive(number, priority, isReturning: isReturning) {
                case .enters: return .granted
                case .isRefused: return .refused
                case .waits:
                    state.waiting[number] = (flight.id, continuation)
                    state.numbers[flight.id] = number
                    return nil
                }
            }
            if end == nil { raise(flight.id, to: flight.priority) }
            return end
        } leave: { [weak self] end in
            let continuation = self?.state.withLock { state in
                state.queue.abandon(number) ? state.release(number) : nil
            }
            continuation?.resume(returning: end)
        }
    }

    /// Raises the priority of a waiter to `priority`, if that is higher. Called when another call joins the waiter's
    /// request.
    func raise(_ flight: FlightID, to priority: CallPriority) {
        let continuation: CheckedContinuation<WaitEnd, Never>? = state.withLock { state in
            guard let number = state.numbers[flight], state.queue.raise(number, to: priority) else { return nil }
            return state.release(number)
        }
        continuation?.resume(returning: .granted)
    }

    /// Records the outcome of a call, and releases the call's slot if the call no longer needs one. Returns the circuit
    /// that the outcome opened, or `nil` if it opened none.
    func record(
        _ outcome: Circuits.Outcome, of permit: Circuits.Permit, to target: CircuitTarget,
        at now: @autoclosure () -> Duration, releasingSlot: Bool
    ) -> Circuits.Opening? {
        let (opening, next) = state.withLock { state in
            // While no host or endpoint has failed, which is nearly always the case, a success changes no circuit
            // breaker, and the clock need not be read.
            let changesCircuits = outcome != .success || !state.circuits.isEmpty
            let opening = changesCircuits ? state.circuits.record(outcome, of: permit, to: target, at: now()) : nil
            return (opening, releasingSlot ? Self.next(&state) : nil)
        }
        next?.resume(returning: .granted)
        return opening
    }

    /// Releases a slot and passes it to the next waiter.
    func leave() {
        state.withLock { Self.next(&$0) }?.resume(returning: .granted)
    }

    private static func next(_ state: inout State) -> CheckedContinuation<WaitEnd, Never>? {
        state.queue.leave().flatMap { state.release($0) }
    }

    /// Returns whether the circuits of both the host and the endpoint are closed. If they are, calls pass as ordinary
    /// calls, not as probes.
    func isCircuitClosed(to target: CircuitTarget) -> Bool {
        state.withLock { $0.circuits.isEmpty || $0.circuits.isClosed(to: target) }
    }

    func forgetFailures() {
        state.withLock { $0.circuits.removeAll() }
    }

    /// The number of networks that the device has joined since the layer was created. A call reads the number before it
    /// sends a request that a circuit may refuse.
    var networkGeneration: UInt64 { state.withLock { $0.networkGeneration } }

    /// Waits until an instant, or until the device joins another network.
    ///
    /// - Parameter generation: The ``networkGeneration`` that the call read before the refused request. If the number
    ///   has changed since, the function returns at once.
    /// - Returns: ``WaitEnd/granted``, or ``WaitEnd/cancelled`` if the task is cancelled.
    func waitForCircuit(
        since generation: UInt64, until instant: Duration, on clock: LayerClock
    ) async -> WaitEnd {
        let race = Race<WaitEnd>()
        let number: UInt64? = state.withLock { state in
            // Compares the number of network changes instead of the state of a circuit breaker. A stage may have
            // changed the request's host, so the caller does not know which circuit breaker refused the request.
            guard state.networkGeneration == generation else { return nil }
            state.number += 1
            state.held[state.number] = race
            return state.number
        }
        guard let number else { return .granted }
        defer { state.withLock { _ = $0.held.removeValue(forKey: number) } }
        return await race.run(onCancel: .cancelled) {
            (try? await clock.sleep(until: instant)) == nil ? .cancelled : .granted
        }
    }

    /// Resumes all calls that wait for a circuit. Called when the device has joined another network.
    func endWaitsForCircuits() {
        let held = state.withLock { state in
            state.networkGeneration += 1
            return Array(state.held.values)
        }
        for race in held { race.finish(.granted) }
    }

    var counts: (admitted: Int, waiting: Int) { state.withLock { ($0.queue.occupied, $0.queue.waitingCount) } }
}
