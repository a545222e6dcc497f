/// Decides which calls of a manager land, and what the manager shows of them. Pure: it starts no task, runs no hook and
/// notifies no delegate; `APIManager` performs what its methods return.
///
/// Each call starts by exactly one of ``startInFlight(_:as:holding:)``, ``startCompleted(_:)`` and ``refuse(_:)``, and
/// ends by exactly one of ``land(_:)``, ``landUnchanged(_:)``, ``end(_:)`` and the start, or failed start, of a call
/// that replaces it. A call that has ended does not land: later events of it, from a task that was not cancelled in
/// time, have no effect.
struct LandingMachine {
    /// The state of a call that has not ended.
    enum State {
        /// The call failed before it started. The failure lands in a later turn of the main actor.
        case refused
        /// The call completed before `load` returned. It lands in a later turn of the main actor.
        case completed
        /// The response of the call has not been received.
        case inFlight(Stale)
    }

    /// The state of the stale response that lands before the fresh one.
    enum Stale {
        /// No stale response exists, or an interceptor vetoed it.
        case none
        /// The manager shows it; its delegate has yet to be notified.
        case held(Landing)
        /// The call landed.
        case landed
    }

    /// The treatment of a call's result by a manager.
    enum Completion {
        /// Discard the result, since the call has ended.
        case discard
        /// Lands the stale response of the call first, and then asks again.
        case landStale(Landing)
        /// Passes the result to the interceptors and, unless the response was validated before, to the validator, and
        /// lands it.
        case receive(isValidated: Bool)
        /// Lands the failure of a call that never started, for which ``Interceptor/beforeLanding(_:of:by:)`` is not
        /// called.
        case fail
    }

    /// The treatment of a call that is made while others are in flight.
    enum Overlap: Equatable {
        /// The call starts.
        case start
        /// The call joins this identical call in flight, and lands together with it.
        case join(FlightID)
        /// The call is ignored because of this call in flight.
        case ignore(FlightID)
    }

    private struct Call {
        let flight: Flight
        /// Calls may join this one if their identity matches; `nil` if none may join.
        let identity: CallIdentity?
        var state: State

        var isInFlight: Bool { if case .inFlight = state { true } else { false } }
    }

    let overlap: OverlapPolicy
    private var calls: [FlightID: Call] = [:]
    private var history = LandingHistory()
    /// The number of calls in flight.
    private(set) var inFlightCount = 0

    init(overlap: OverlapPolicy) { self.overlap = overlap }

    /// The values that the manager shows.
    var last: LastLanding { history.last }
    /// The calls that have not ended, in order.
    var pending: [FlightID] { calls.keys.sorted() }

    // Inlined, as `requested(_:)` is, so that the manager reads one property in place of copying the machine.
    @inline(__always) func isPending(_ id: FlightID) -> Bool { calls[id] != nil }
    func isInFlight(_ id: FlightID) -> Bool { calls[id]?.isInFlight ?? false }
    /// Returns a call that has not ended; `nil` if it has.
    func flight(_ id: FlightID) -> Flight? { calls[id]?.flight }

    /// Returns the held stale response of a call; `nil` if there is none, or the call has ended.
    func heldStale(of id: FlightID) -> Landing? {
        if case .inFlight(.held(let landing)) = calls[id]?.state { landing } else { nil }
    }
}

/// Starts.
extension LandingMachine {
    /// Decides the treatment of a new call.
    ///
    /// - Parameter identity: Compared with the identities of the calls in flight; `nil` if the call joins none.
    @inline(__always) func requested(_ identity: CallIdentity? = nil) -> Overlap {
        inFlightCount > 0 ? requestedInFlight(identity) : .start
    }

    private func requestedInFlight(_ identity: CallIdentity?) -> Overlap {
        let inFlight = calls.values.filter(\.isInFlight)
        switch overlap {
        case .concurrent, .cancelRunning: return .start
        case .ignoreNew: return inFlight.map(\.flight.id).min().map { .ignore($0) } ?? .start
        case .joinOrReplace:
            let served = inFlight.first { call in
                guard let identity, let running = call.identity else { return false }
                return identity.isServed(by: running)
            }
            return served.map { .join($0.flight.id) } ?? .start
        }
    }

    /// Records that a call is in flight.
    ///
    /// - Parameters:
    ///   - identity: Later calls may join this one if their identity matches. The default, `nil`, lets none join.
    ///   - stale: The stale response of the call, which the manager shows from now on.
    /// - Returns: The calls that it replaces, which have ended.
    mutating func startInFlight(
        _ flight: Flight, as identity: CallIdentity? = nil, holding stale: Landing? = nil
    ) -> [Flight] {
        precondition(stale?.flight.id ?? flight.id == flight.id, "a call holds its own response")
        let replaced = replaceCalls()
        insert(flight, as: identity, .inFlight(stale.map { .held($0) } ?? .none))
        if let stale { hold(stale) }
        return replaced
    }

    /// Records that a call completed before `load` returned. The manager shows its response from now on, if it
    /// succeeded.
    ///
    /// - Returns: The calls that it replaces, which have ended.
    mutating func startCompleted(_ landing: Landing) -> [Flight] {
        let replaced = replaceCalls()
        insert(landing.flight, .completed)
        if landing.rawData != nil { hold(landing) }
        return replaced
    }

    /// Records that a call failed before it started.
    ///
    /// - Returns: The calls that it replaces, which have ended: no older response is shown after its error.
    mutating func refuse(_ flight: Flight) -> [Flight] {
        let replaced = replaceCalls()
        insert(flight, .refused)
        return replaced
    }

    private mutating func insert(_ flight: Flight, as identity: CallIdentity? = nil, _ state: State) {
        let former = calls.updateValue(Call(flight: flight, identity: identity, state: state), forKey: flight.id)
        precondition(former == nil, "a call starts once")
        if case .inFlight = state { inFlightCount += 1 }
    }

    private mutating func hold(_ landing: Landing) {
        precondition(landing.rawData != nil, "a manager holds responses, and no errors")
        history.hold(landing)
    }

    private mutating func replaceCalls() -> [Flight] {
        guard overlap.replacesOlder, !calls.isEmpty else { return [] }
        return pending.compactMap { end($0) }
    }
}

/// The stale response of a call in flight.
extension LandingMachine {
    /// Records that a stale response was found after `load` returned.
    ///
    /// - Returns: Whether the response may land; `false` if the call has ended.
    mutating func holdStale(_ landing: Landing) -> Bool {
        switch calls[landing.flight.id]?.state {
        case nil: return false
        case .inFlight(.none): break
        case .refused, .completed: preconditionFailure("a stale response comes before the fresh one")
        case .inFlight(.held), .inFlight(.landed): preconditionFailure("a call has one stale response")
        }
        calls[landing.flight.id]?.state = .inFlight(.held(landing))
        hold(landing)
        return true
    }

    /// Removes the stale response, which an interceptor vetoed. The fresh one may still land.
    mutating func removeHeldStale(of id: FlightID) {
        precondition(heldStale(of: id) != nil, "a stale response that is vetoed is held")
        calls[id]?.state = .inFlight(.none)
        history.removeHeldResponse(of: id)
    }

    /// Lands the stale response, which no interceptor vetoed.
    ///
    /// - Returns: Whether the delegate is notified of it; `false` if the call has ended or an interceptor vetoed the
    ///   response.
    mutating func landStale(of id: FlightID) -> Bool {
        guard let landing = heldStale(of: id) else { return false }
        calls[id]?.state = .inFlight(.landed)
        history.add(landing)
        return true
    }
}

/// Ends.
extension LandingMachine {
    /// Decides the treatment of a call's result.
    func completed(_ id: FlightID) -> Completion {
        switch calls[id]?.state {
        case nil: .discard
        case .refused: .fail
        case .completed: .receive(isValidated: true)
        case .inFlight(.held(let stale)): .landStale(stale)
        case .inFlight(.none), .inFlight(.landed): .receive(isValidated: false)
        }
    }

    /// Ends a call whose fresh response has the same content as its stale one, if the stale one landed and is still
    /// shown.
    ///
    /// - Returns: Whether the landing has ended the call. The manager then shows the fresh response, and the delegate
    ///   is not notified.
    mutating func landUnchanged(_ fresh: Landing) -> Bool {
        guard case .inFlight(.landed) = calls[fresh.flight.id]?.state, let stale = last.response,
            stale.flight.id == fresh.flight.id, stale.rawData?.bytes == fresh.rawData?.bytes
        else { return false }
        return land(fresh)
    }

    /// Ends a call with its result.
    ///
    /// - Returns: Whether the delegate is notified of it; `false` if the call has ended before.
    mutating func land(_ landing: Landing) -> Bool {
        precondition(heldStale(of: landing.flight.id) == nil, "the stale response lands before the fresh one")
        guard remove(landing.flight.id) != nil else { return false }
        history.add(landing)
        return true
    }

    /// Ends a call without landing. If its response is held, the manager shows it no longer.
    ///
    /// - Returns: The call; `nil` if it has ended before.
    mutating func end(_ id: FlightID) -> Flight? {
        guard let flight = remove(id) else { return nil }
        history.removeHeldResponse(of: id)
        return flight
    }

    /// Removes the shown values. Calls that have not ended may still land.
    mutating func clear() {
        history.clear()
    }

    private mutating func remove(_ id: FlightID) -> Flight? {
        guard let call = calls.removeValue(forKey: id) else { return nil }
        if call.isInFlight { inFlightCount -= 1 }
        return call.flight
    }
}
