import Synchronization

/// Requests background time from the system for calls that send a request, and cancels calls whose background time has
/// expired.
final class GraceControl: Sendable {
    private enum Hold {
        /// ``BackgroundGrace/begin(_:onExpiry:)`` has not returned yet.
        case beginning
        case held(Int)
    }

    private let grace: any BackgroundGrace
    private let deadlines: DeadlineTimer
    /// Guards the calls with background time. The caller that removes a held entry must end its background time.
    private let holds = Mutex<[FlightID: Hold]>([:])

    init(_ grace: any BackgroundGrace, _ deadlines: DeadlineTimer) {
        self.grace = grace
        self.deadlines = deadlines
    }

    /// Begins background time for work that is not a single call.
    func hold(_ name: String) -> GraceHold { GraceHold(grace, name) }

    /// Begins the background time of a call unless it has already begun.
    func begin(_ flight: Flight) {
        let id = flight.id
        let isNew = holds.withLock { holds in
            defer { if holds[id] == nil { holds[id] = .beginning } }
            return holds[id] == nil
        }
        guard isNew else { return }
        let name = "\(flight.service.name).\(flight.endpoint.name)"
        // The references are weak, because the system may retain the closure for longer than the call lasts.
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

    /// Ends the background time of a call, if it has any. Called when the call has ended.
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
