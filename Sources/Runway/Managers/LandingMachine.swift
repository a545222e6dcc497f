/// Decides which results of a manager's calls *land*: the manager shows them and notifies its delegate. It is a pure
/// state machine: it starts no task, runs no hook and notifies no delegate. `APIManager` performs the actions that its
/// methods return.
///
/// Each call starts with exactly one of ``startInFlight(_:as:holding:)``, ``startCompleted(_:)`` and ``refuse(_:)``.
/// Each call ends with exactly one of ``land(_:)``, ``landUnchanged(_:)``, ``end(_:)``, or the start (even a failed
/// one) of a call that replaces it. The result of a call that has ended does not land: later events from its task have
/// no effect.
struct LandingMachine {
    /// The state of a call that has not ended.
    enum State {
        /// The call failed before it started. The failure is delivered in a later turn of the main actor.
        case refused
        /// The call completed before `load` returned. Its result is delivered in a later turn of the main actor.
        case completed
        /// The response of the call has not been received yet.
        case inFlight(Stale)
    }

    /// The state of the stale response that is delivered before the fresh one.
    enum Stale {
        /// There is no stale response, or an interceptor vetoed it.
        case none
        /// The manager shows the stale response, but its delegate has not been notified yet.
        case held(Landing)
        /// The delegate was notified of the stale response.
        case landed
    }

    /// The next step of a manager for the result of a call.
    enum Completion {
        /// Discard the result, because the call has ended.
        case discard
        /// Deliver the stale response of the call first, then ask for the next step again.
        case landStale(Landing)
        /// Pass the result to the interceptors, validate it unless `isValidated` is true, and deliver it.
        case receive(isValidated: Bool)
        /// Deliver the failure of a call that never started. ``Interceptor/beforeLanding(_:of:by:)`` is not called for
        /// it.
        case fail
    }

    /// The treatment of a new call while others are in flight.
    enum Overlap: Equatable {
        case start
        /// The new call joins this identical call in flight. Both receive the same result.
        case join(FlightID)
        /// The new call is ignored because this call is in flight.
        case ignore(FlightID)
    }

    private struct Call {
        let flight: Flight
        /// The identity of the call. Later calls with a matching identity may join this call. `nil` if no call may
        /// join.
        let identity: CallIdentity?
        var state: State

        var isInFlight: Bool { if case .inFlight = state { true } else { false } }
    }

    let overlap: OverlapPolicy
    private var calls: [FlightID: Call] = [:]
    private var history = LandingHistory()
    private(set) var inFlightCount = 0

    init(overlap: OverlapPolicy) { self.overlap = overlap }

    /// The values that the manager currently shows.
    var last: LastLanding { history.last }
    /// The calls that have not ended, in the order in which they were made.
    var pending: [FlightID] { calls.keys.sorted() }

    // Inlined, like `requested(_:)`, so that the manager reads one property instead of copying the machine.
    @inline(__always) func isPending(_ id: FlightID) -> Bool { calls[id] != nil }
    func isInFlight(_ id: FlightID) -> Bool { calls[id]?.isInFlight ?? false }
    /// Returns a call that has not ended; otherwise `nil`.
    func flight(_ id: FlightID) -> Flight? { calls[id]?.flight }

    /// Returns the held stale response of a call, or `nil` if there is none or the call has ended.
    func heldStale(of id: FlightID) -> Landing? {
        if case .inFlight(.held(let landing)) = calls[id]?.state { landing } else { nil }
    }
}

/// The methods that start calls.
extension LandingMachine {
    /// Decides the treatment of a new call.
    ///
    /// - Parameter identity: Compared with the identities of the calls in flight; `nil` if the call must not join
    ///   another.
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
    ///   - identity: The identity of the call. Later calls with a matching identity may join this call. With the
    ///     default, `nil`, no call may join.
    ///   - stale: The stale response of the call. The manager shows it from now on.
    /// - Returns: The calls that the new call replaced. They have ended.
    mutating func startInFlight(
        _ flight: Flight, as identity: CallIdentity? = nil, holding stale: Landing? = nil
    ) -> [Flight] {
        precondition(stale?.flight.id ?? flight.id == flight.id, "a call holds its own response")
        let replaced = replaceCalls()
        insert(flight, as: identity, .inFlight(stale.map { .held($0) } ?? .none))
        if let stale { hold(stale) }
        return replaced
    }

    /// Records that a call completed before `load` returned. If it succeeded, the manager shows its response from now
    /// on.
    ///
    /// - Returns: The calls that the new call replaced. They have ended.
    mutating func startCompleted(_ landing: Landing) -> [Flight] {
        let replaced = replaceCalls()
        insert(landing.flight, .completed)
        if landing.rawData != nil { hold(landing) }
        return replaced
    }

    /// Records that a call failed before it started.
    ///
    /// - Returns: The calls that the new call replaced. They have ended, so that no older response is shown after the
    ///   new call's error.
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

/// The methods for the stale response of a call in flight.
extension LandingMachine {
    /// Records that a stale response was found after `load` returned.
    ///
    /// - Returns: Whether the response may be delivered; `false` if the call has ended.
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

    /// Removes a stale response that an interceptor vetoed. The fresh response may still be delivered.
    mutating func removeHeldStale(of id: FlightID) {
        precondition(heldStale(of: id) != nil, "a stale response that is vetoed is held")
        calls[id]?.state = .inFlight(.none)
        history.removeHeldResponse(of: id)
    }

    /// Records that a stale response, which no interceptor vetoed, is delivered.
    ///
    /// - Returns: Whether the delegate must be notified; `false` if the call has ended or an interceptor vetoed the
    ///   response.
    mutating func landStale(of id: FlightID) -> Bool {
        guard let landing = heldStale(of: id) else { return false }
        calls[id]?.state = .inFlight(.landed)
        history.add(landing)
        return true
    }
}

/// The methods that end calls.
extension LandingMachine {
    /// Returns the next step for the result of a call.
    func completed(_ id: FlightID) -> Completion {
        switch calls[id]?.state {
        case nil: .discard
        case .refused: .fail
        case .completed: .receive(isValidated: true)
        case .inFlight(.held(let stale)): .landStale(stale)
        case .inFlight(.none), .inFlight(.landed): .receive(isValidated: false)
        }
    }

    /// Ends a call whose fresh response has the same content as its stale response, provided that the stale response
    /// was delivered and is still shown.
    ///
    /// - Returns: Whether the call has ended. If so, the manager shows the fresh response, and the delegate is not
    ///   notified.
    mutating func landUnchanged(_ fresh: Landing) -> Bool {
        guard case .inFlight(.landed) = calls[fresh.flight.id]?.state, let stale = last.response,
            stale.flight.id == fresh.flight.id, stale.rawData?.bytes == fresh.rawData?.bytes
        else { return false }
        return land(fresh)
    }

    /// Ends a call with its result.
    ///
    /// - Returns: Whether the delegate must be notified; `false` if the call had already ended.
    mutating func land(_ landing: Landing) -> Bool {
        precondition(heldStale(of: landing.flight.id) == nil, "the stale response lands before the fresh one")
        guard remove(landing.flight.id) != nil else { return false }
        history.add(landing)
        return true
    }

    /// Ends a call without delivering its result. If its response is held, the manager no longer shows it.
    ///
    /// - Returns: The call, or `nil` if it had already ended.
    mutating func end(_ id: FlightID) -> Flight? {
        guard let flight = remove(id) else { return nil }
        history.removeHeldResponse(of: id)
        return flight
    }

    /// Removes the values that the manager shows. The results of calls that have not ended may still be delivered.
    mutating func clear() {
        history.clear()
    }

    private mutating func remove(_ id: FlightID) -> Flight? {
        guard let call = calls.removeValue(forKey: id) else { return nil }
        if call.isInFlight { inFlightCount -= 1 }
        return call.flight
    }
}

/// The response or error of one call, as its manager receives it.
final class Landing: Sendable {
    let flight: Flight
    /// The parameters of the call; `nil` if the call failed because no parameters were supplied.
    let endpoint: (any Endpoint)?
    let result: Result<RawData, NetworkError>

    init(_ flight: Flight, _ endpoint: any Endpoint, _ rawData: RawData) {
        (self.flight, self.endpoint, result) = (flight, endpoint, .success(rawData))
    }

    init(_ flight: Flight, _ endpoint: (any Endpoint)?, failing error: NetworkError) {
        (self.flight, self.endpoint, result) = (flight, endpoint, .failure(error))
    }

    /// The record of the call so far. If the call has not ended, the record shows this response or error as its
    /// outcome.
    var record: FlightRecord {
        flight.record(flight.context.redaction, as: error.map { .failed($0) } ?? .succeeded)
    }

    var rawData: RawData? { if case .success(let rawData) = result { rawData } else { nil } }
    var error: NetworkError? { if case .failure(let error) = result { error } else { nil } }
}

/// The response and the result that a manager currently shows.
struct LastLanding {
    var response: Landing?
    /// The result that was delivered last, whether a response or an error.
    var landed: Landing?

    mutating func add(_ landing: Landing) {
        if landing.rawData != nil { response = landing }
        landed = landing
    }

    /// Returns whether both values show the same response and the same result.
    func isSame(as other: LastLanding) -> Bool { response === other.response && landed === other.landed }

    fileprivate func shows(_ id: FlightID) -> Bool { response?.flight.id == id || landed?.flight.id == id }
}

/// The results of a manager's calls in the order of their delivery, including held responses. The manager shows a held
/// response, but its delegate has not been notified of it yet.
///
/// If a held response is removed before the delegate is notified, the manager shows the values that were shown before
/// it.
struct LandingHistory {
    private struct Entry {
        var landing: Landing
        /// Whether the delegate has not been notified of the result yet.
        var isHeld: Bool
    }

    /// The values that the manager currently shows.
    private(set) var last = LastLanding()
    /// The values that the manager showed before the first member of `entries`.
    private var earlier = LastLanding()
    /// The first held response and all later results; empty if no response is held.
    private var entries: [Entry] = []

    /// Shows a response before the delegate is notified of it.
    mutating func hold(_ landing: Landing) {
        entries.append(Entry(landing: landing, isHeld: true))
        last.add(landing)
    }

    /// Shows a result when the delegate is notified of it. If a response of the same call was held, it is no longer
    /// held.
    mutating func add(_ landing: Landing) {
        removeHeld(landing.flight.id)
        if entries.isEmpty { earlier.add(landing) } else { entries.append(Entry(landing: landing, isHeld: false)) }
        last.add(landing)
    }

    /// Removes the held response of a call, if any.
    mutating func removeHeldResponse(of id: FlightID) {
        // The shown values change only if the call held a response and no later result hides that response.
        guard removeHeld(id), last.shows(id) else { return }
        last = entries.reduce(into: earlier) { $0.add($1.landing) }
    }

    mutating func clear() {
        self = LandingHistory()
    }

    @discardableResult
    private mutating func removeHeld(_ id: FlightID) -> Bool {
        guard let index = entries.firstIndex(where: { $0.isHeld && $0.landing.flight.id == id }) else { return false }
        entries.remove(at: index)
        let final = entries.prefix { !$0.isHeld }
        for entry in final { earlier.add(entry.landing) }
        entries.removeFirst(final.count)
        return true
    }
}
