/// A response or an error that a call brought to its manager.
final class Landing: Sendable {
    let flight: Flight
    /// The parameters of the call; `nil` if it failed because no parameters were supplied.
    let endpoint: (any Endpoint)?
    let result: Result<RawData, NetworkError>

    init(_ flight: Flight, _ endpoint: any Endpoint, _ rawData: RawData) {
        (self.flight, self.endpoint, result) = (flight, endpoint, .success(rawData))
    }

    init(_ flight: Flight, _ endpoint: (any Endpoint)?, failing error: NetworkError) {
        (self.flight, self.endpoint, result) = (flight, endpoint, .failure(error))
    }

    /// The record of the call so far, in which this landing is the outcome if the call has not ended yet.
    var record: FlightRecord {
        flight.record(flight.context.redaction, as: error.map { .failed($0) } ?? .succeeded)
    }

    /// The response; `nil` if the call failed.
    var rawData: RawData? { if case .success(let rawData) = result { rawData } else { nil } }
    /// The error; `nil` if the call succeeded.
    var error: NetworkError? { if case .failure(let error) = result { error } else { nil } }
}

/// The values that a manager shows of its calls.
struct LastLanding {
    /// The last landing with a response.
    var response: Landing?
    /// The last landing, with a response or an error.
    var landed: Landing?

    mutating func add(_ landing: Landing) {
        if landing.rawData != nil { response = landing }
        landed = landing
    }

    /// Whether both show the same landings.
    func isSame(as other: LastLanding) -> Bool { response === other.response && landed === other.landed }

    fileprivate func shows(_ id: FlightID) -> Bool { response?.flight.id == id || landed?.flight.id == id }
}

/// The landings of a manager, including responses that it holds although its delegate has not been notified of them, in
/// order.
///
/// If the delegate is never notified of a held response, the response is removed, and the manager shows the values that
/// it would show without it.
struct LandingHistory {
    private struct Entry {
        var landing: Landing
        /// Whether the delegate has not been notified of it.
        var isHeld: Bool
    }

    /// The values that the manager shows now.
    private(set) var last = LastLanding()
    /// The values that the manager showed before the first of `entries`.
    private var earlier = LastLanding()
    /// The first held response and all later landings; empty if no response is held.
    private var entries: [Entry] = []

    /// Shows a response before the delegate is notified of it.
    mutating func hold(_ landing: Landing) {
        entries.append(Entry(landing: landing, isHeld: true))
        last.add(landing)
    }

    /// Shows a landing of which the delegate is notified now. A held response of the same call is no longer held.
    mutating func add(_ landing: Landing) {
        removeHeld(landing.flight.id)
        if entries.isEmpty { earlier.add(landing) } else { entries.append(Entry(landing: landing, isHeld: false)) }
        last.add(landing)
    }

    /// Removes the response of a call that is held, if there is one.
    mutating func removeHeldResponse(of id: FlightID) {
        // Most calls hold nothing when they end, and a response that later landings hide changes nothing that is shown.
        guard removeHeld(id), last.shows(id) else { return }
        last = entries.reduce(into: earlier) { $0.add($1.landing) }
    }

    /// Shows nothing any more.
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
