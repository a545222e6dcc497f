import Synchronization

/// What the flights of a layer share to be let out in good order: the places in the air, the circuits of failing hosts, and the
/// counts of identical requests.
final class AdmissionControl: Sendable {
    private struct State {
        var flood: FloodGuard
        var circuits: Circuits
        var line: PriorityLine
        var waiting: [UInt64: (flight: FlightID, continuation: CheckedContinuation<WaitEnd, Never>)] = [:]
        /// The tickets of the flights that wait.
        var tickets: [FlightID: UInt64] = [:]
        var ticket: UInt64 = 0

        /// Lets one go who waited.
        mutating func release(_ ticket: UInt64) -> CheckedContinuation<WaitEnd, Never>? {
            guard let released = waiting.removeValue(forKey: ticket) else { return nil }
            tickets[released.flight] = nil
            return released.continuation
        }
    }

    /// What becomes of a call that wants out.
    enum Entry {
        /// It has a place in the air.
        case admitted(CircuitBreaker.Pass)
        case refused(AdmissionRefusal)
        /// It may fly, when it is its turn.
        case hasToWait
    }

    let limits: AdmissionLimits
    /// Guards all of it: a call takes the lock once on its way out and once on its way back.
    private let state: Mutex<State>

    init(_ limits: AdmissionLimits) {
        self.limits = limits
        state = Mutex(
            State(
                flood: FloodGuard(maximumCount: limits.maximumIdenticalRequests, window: limits.floodWindow),
                circuits: Circuits(limits.circuitBreaker),
                line: PriorityLine(capacity: limits.maximumFlights, maximumWaiting: limits.maximumWaiting)))
    }

    /// Lets a call out, if that needs no waiting.
    ///
    /// - Parameter identity: What identical requests have in common; `nil` where they are not counted.
    func enter(_ identity: Int?, to head: Request.Head, _ priority: CallPriority, at now: Duration) -> Entry {
        state.withLock { state in
            if let identity, let maximum = limits.maximumIdenticalRequests,
                let time = state.flood.refusal(of: identity, at: now)
            {
                return .refused(.flood(maximum: maximum, within: limits.floodWindow, refusedFor: time))
            }
            if let refusal = Self.refusal(of: head, at: now, &state) { return .refused(refusal) }
            guard state.line.enterAtOnce(priority) else { return .hasToWait }
            return .admitted(Self.pass(to: head, at: now, &state))
        }
    }

    /// Lets a call out that waited for its turn and has a place; takes the place back where its host began to fail meanwhile.
    func enterAfterWaiting(to head: Request.Head, at now: Duration) -> Entry {
        let entry: Entry = state.withLock { state in
            if let refusal = Self.refusal(of: head, at: now, &state) { return .refused(refusal) }
            return .admitted(Self.pass(to: head, at: now, &state))
        }
        if case .refused = entry { leave() }
        return entry
    }

    private static func refusal(
        of head: Request.Head, at now: Duration, _ state: inout State
    ) -> AdmissionRefusal? {
        // As long as no host has failed, which is nearly always, there is no host to look for.
        guard !state.circuits.isEmpty else { return nil }
        let origin = Origin(head)
        return state.circuits.refusal(of: origin, at: now).map { .circuitOpen(host: origin.host, for: $0) }
    }

    private static func pass(to head: Request.Head, at now: Duration, _ state: inout State) -> CircuitBreaker.Pass {
        state.circuits.isEmpty ? .ordinary : state.circuits.pass(to: Origin(head), at: now)
    }

    /// Waits for a place in the air.
    ///
    /// - Parameter isReturning: Whether the call had a place before; it is not refused however many wait.
    func waitForTurn(_ flight: Flight, _ priority: CallPriority, isReturning: Bool = false) async -> WaitEnd {
        let ticket = state.withLock { state in
            state.ticket += 1
            return state.ticket
        }
        return await flight.wait { continuation in
            let end: WaitEnd? = state.withLock { state in
                switch state.line.arrive(ticket, priority, isReturning: isReturning) {
                case .enters: return .granted
                case .isRefused: return .refused
                case .waits:
                    state.waiting[ticket] = (flight.id, continuation)
                    state.tickets[flight.id] = ticket
                    return nil
                }
            }
            if end == nil { raise(flight.id, to: flight.priority) }
            return end
        } leave: { [weak self] end in
            let continuation = self?.state.withLock { state in
                state.line.abandon(ticket) ? state.release(ticket) : nil
            }
            continuation?.resume(returning: end)
        }
    }

    /// Gives a call that waits for its turn the priority of one that joined it, where that is higher.
    func raise(_ flight: FlightID, to priority: CallPriority) {
        let continuation: CheckedContinuation<WaitEnd, Never>? = state.withLock { state in
            guard let ticket = state.tickets[flight], state.line.raise(ticket, to: priority) else { return nil }
            return state.release(ticket)
        }
        continuation?.resume(returning: .granted)
    }

    /// Takes in what became of a call, and gives its place to whoever's turn it is, where the call needs it no longer. Gives for how
    /// long its host's circuit opened, if that is what it did.
    func record(
        _ outcome: CircuitBreaker.Outcome, of pass: CircuitBreaker.Pass, to head: Request.Head,
        at now: Duration, givingBackPlace: Bool
    ) -> Duration? {
        let (openTime, next) = state.withLock { state in
            let isNews = outcome != .success || !state.circuits.isEmpty
            let openTime = isNews ? state.circuits.record(outcome, of: pass, to: Origin(head), at: now) : nil
            return (openTime, givingBackPlace ? Self.next(&state) : nil)
        }
        next?.resume(returning: .granted)
        return openTime
    }

    /// Gives a place in the air to whoever's turn it is.
    func leave() {
        state.withLock { Self.next(&$0) }?.resume(returning: .granted)
    }

    private static func next(_ state: inout State) -> CheckedContinuation<WaitEnd, Never>? {
        state.line.leave().flatMap { state.release($0) }
    }

    /// Whether calls to a host pass without being probes.
    func isCircuitClosed(to head: Request.Head) -> Bool {
        state.withLock { $0.circuits.isEmpty || $0.circuits.isClosed(to: Origin(head)) }
    }

    /// Closes all circuits.
    func forgetFailures() {
        state.withLock { $0.circuits.removeAll() }
    }

    /// How many calls are in the air, and how many wait for their turn.
    var counts: (flying: Int, waiting: Int) { state.withLock { ($0.line.occupied, $0.line.waitingCount) } }
}
