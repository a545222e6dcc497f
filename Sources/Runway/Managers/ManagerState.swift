import Observation

/// What a manager holds and has in the air, apart from it.
///
/// A manager is generic. Key paths into a generic class, which observation needs, are made anew at every use and take microseconds each;
/// those into this class are constants.
@MainActor @Observable
final class ManagerState {
    /// The calls that have not landed. What a view can see of them is how many fly.
    @ObservationIgnored private(set) var flights: [FlightID: RunningFlight] = [:]
    /// How many of them fly.
    private(set) var flyingCount = 0
    /// What landed last: one value, since whoever watches is told of each change, and a landing is one.
    var last = LastLanding()
    /// The answers that are held but that nobody was told of yet, in order.
    @ObservationIgnored var untold: [UntoldAnswer] = []
}

/// What landed last in a manager.
struct LastLanding {
    /// The last answer, and the call that it answers.
    var answer: Landing?
    /// The last landing, successful or not.
    var landed: Landing?
    /// The error of the last landing.
    var error: NetworkError?
}

/// A call of a manager that has not landed.
struct RunningFlight {
    enum Phase {
        case flying
        /// Its answer was there at once; the delegate is still to be told.
        case answered
        /// It failed before it took off; the delegate is still to be told.
        case grounded
    }
    /// What became of the stale answer that lands before the fresh one.
    enum Provisional { case absent, untold, told }

    var flight: Flight
    var phase: Phase
    var provisional = Provisional.absent
}

/// A call that landed.
final class Landing: Sendable {
    let flight: Flight
    /// Its parameters; `nil` where nobody gave any.
    let endpoint: (any Endpoint)?
    /// What it brought; `nil` where it failed.
    let rawData: RawData?

    init(_ flight: Flight, _ endpoint: (any Endpoint)?, _ rawData: RawData? = nil) {
        self.flight = flight
        self.endpoint = endpoint
        self.rawData = rawData
    }
}

/// An answer that the manager holds already, and what it goes back to if nobody is ever told of it.
@MainActor
final class UntoldAnswer {
    let flight: FlightID
    var last: LastLanding

    init(_ flight: FlightID, before state: ManagerState) {
        self.flight = flight
        last = state.last
    }
}

extension ManagerState {
    /// Puts a call among those that have not landed, or says anew what becomes of it.
    func add(_ running: RunningFlight) {
        let former = flights.updateValue(running, forKey: running.flight.id)
        count(from: former?.phase, to: running.phase)
    }

    /// Takes a call out; gives what it was, or `nil` where it was not there.
    @discardableResult
    func remove(_ id: FlightID) -> RunningFlight? {
        let former = flights.removeValue(forKey: id)
        count(from: former?.phase, to: nil)
        return former
    }

    /// Says what became of a call's stale answer, where the call has not landed.
    func setProvisional(_ provisional: RunningFlight.Provisional, of id: FlightID) {
        flights[id]?.provisional = provisional
    }

    private func count(from former: RunningFlight.Phase?, to phase: RunningFlight.Phase?) {
        let change = (phase == .flying ? 1 : 0) - (former == .flying ? 1 : 0)
        if change != 0 { flyingCount += change }
    }

    /// Makes an answer the one that the manager holds, though nobody is told of it yet.
    func hold(_ landing: Landing) {
        untold.append(UntoldAnswer(landing.flight.id, before: self))
        keep(landing)
    }

    /// Makes an answer the one that the manager holds.
    func keep(_ landing: Landing) {
        last = LastLanding(answer: landing, landed: landing)
    }

    /// Whoever is to be told of a call's answer is told now: there is no way back from it.
    func tell(_ id: FlightID) {
        if let index = untold.firstIndex(where: { $0.flight == id }) { untold.remove(at: index) }
    }

    /// Gives back what was held before an answer that nobody will be told of. Without such an answer it changes nothing.
    func goBack(from id: FlightID) {
        guard let index = untold.firstIndex(where: { $0.flight == id }) else { return }
        let before = untold.remove(at: index).last
        // Who was held after it goes back further now.
        for later in untold[index...] { later.last.goBack(from: id, to: before) }
        if last.answer?.flight.id == id || last.landed?.flight.id == id { last.goBack(from: id, to: before) }
    }
}

extension LastLanding {
    /// Takes back what a call brought.
    fileprivate mutating func goBack(from id: FlightID, to before: LastLanding) {
        if answer?.flight.id == id { answer = before.answer }
        if landed?.flight.id == id { (landed, error) = (before.landed, before.error) }
    }
}
