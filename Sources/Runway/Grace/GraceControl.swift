import Synchronization

/// Has the system's grace for calls that send a request, and cancels those whose grace is over.
final class GraceControl: Sendable {
    private enum Hold {
        /// The app is being asked.
        case beginning
        case held(Int)
    }

    private let grace: any BackgroundGrace
    private let deadlines: DeadlineTimer
    /// Guards the calls with a grace. The caller that removes a held one ends it.
    private let holds = Mutex<[FlightID: Hold]>([:])

    init(_ grace: any BackgroundGrace, _ deadlines: DeadlineTimer) {
        self.grace = grace
        self.deadlines = deadlines
    }

    /// Begins a grace for work around calls.
    func hold(_ name: String) -> GraceHold { GraceHold(grace, name) }

    /// Begins the grace of a call, unless it has one.
    func begin(_ flight: Flight) {
        let id = flight.id
        let isNew = holds.withLock { holds in
            defer { if holds[id] == nil { holds[id] = .beginning } }
            return holds[id] == nil
        }
        guard isNew else { return }
        let name = "\(flight.service.name).\(flight.endpoint.name)"
        // Weak: the system may retain the closure for longer than the call lasts.
        let token = grace.begin(name) { [weak self, weak flight] in
            if let self, let flight { expire(flight) }
        }
        let isOver = holds.withLock { holds in
            guard holds[id] != nil else { return true }
            holds[id] = token.map { .held($0) }
            return false
        }
        if isOver, let token { grace.end(token) }
    }

    /// Ends the grace of a call that has ended, if it has one.
    func end(_ id: FlightID) {
        if case .held(let token)? = holds.withLock({ $0.removeValue(forKey: id) }) { grace.end(token) }
    }

    private func expire(_ flight: Flight) {
        guard holds.withLock({ $0[flight.id] != nil }) else { return }
        flight.isOutOfGrace.store(true, ordering: .releasing)
        deadlines.expire { $0 === flight }
        end(flight.id)
    }
}
