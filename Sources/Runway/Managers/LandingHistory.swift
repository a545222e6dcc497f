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
