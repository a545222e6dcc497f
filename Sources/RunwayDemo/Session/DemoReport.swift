public import Runway

/// What a played session showed, and what became of every call.
public struct DemoReport: Sendable, Encodable {
    /// One thing that the user did, and what was on the screen after it.
    public struct Scene: Sendable, Encodable {
        /// What the user did.
        public var title: String
        /// The screen, line by line.
        public var screen: [String]
    }

    /// What the backend's listings were made from.
    public var seed: UInt64
    /// Calls that were asked for, whatever became of them.
    public var calls: Int
    /// Calls that made a request of their own.
    public var callsFlown: Int
    /// Calls that made none, by why they did not.
    public var callsNotFlown: [UnsentReason: Int]
    /// Requests that went to the transport.
    public var requestsOnTheWire: Int
    /// Requests that calls made after their first, by why they did.
    public var requestsRepeated: [Repetition: Int]
    /// Bytes of the bodies of all responses that came in whole.
    public var bytes: Int
    /// What the user did and saw.
    public var scenes: [Scene]
    /// The record of every call, in the order of asking.
    public var flights: [FlightRecord]
    /// The records of the requests that carried several calls.
    public var envelopes: [FlightRecord]
    /// What was not as it should be; empty where all was well.
    public var problems: [String]
    /// How the addresses of a host were chosen, where that was played, too.
    public var hosts: HostTourReport?

    init(
        seed: UInt64, scenes: [Scene], flights: [FlightRecord], envelopes: [FlightRecord], problems: [String]
    ) {
        let attempts = (flights + envelopes).flatMap(\.attempts)
        self.seed = seed
        self.scenes = scenes
        self.flights = flights
        self.envelopes = envelopes
        self.problems = problems
        calls = flights.count
        callsFlown = flights.count { !$0.attempts.isEmpty }
        callsNotFlown = flights.compactMap { UnsentReason($0) }.counted
        requestsOnTheWire = attempts.count
        requestsRepeated = flights.flatMap(Repetition.all).counted
        bytes = attempts.compactMap(\.responseByteCount).reduce(0, +)
    }
}

extension Array where Element: Hashable {
    /// How often each element is there.
    var counted: [Element: Int] { reduce(into: [:]) { $0[$1, default: 0] += 1 } }
}
