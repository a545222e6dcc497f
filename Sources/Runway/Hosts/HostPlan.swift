/// The order in which a client dials the addresses of a host.
package struct HostPlan: Sendable, Equatable {
    /// The time after which the next address is dialled, if the latency of the first address is unknown (RFC 8305 §5
    /// and §8).
    package static let defaultStagger = Duration.milliseconds(250)

    /// The addresses in the order of dialling: the best one first, then alternating families (RFC 8305 §4).
    package var order: [IPAddress] = []
    /// The addresses that failed recently, sorted by the end of their ban. They are dialled after all others.
    package var banned: [IPAddress] = []
    /// An address of ``order`` with too few measurements. It is dialled in parallel to the first one, so no call waits
    /// for it.
    package var explored: IPAddress?
    /// The time after the start of the first dial at which the next address is dialled. It is longer than the usual
    /// latency of the first address; `nil` if that latency is unknown.
    package var stagger: Duration?

    package init(
        order: [IPAddress] = [], banned: [IPAddress] = [], explored: IPAddress? = nil, stagger: Duration? = nil
    ) {
        self.order = order
        self.banned = banned
        self.explored = explored
        self.stagger = stagger
    }
}

/// An event that shows how well an address works.
package enum HostEvent: Sendable, Equatable {
    /// A connection was established. `roundTrip` is the time of one round trip.
    case dialed(roundTrip: Duration)
    /// Another address connected first, so the round trip to this address takes longer than `roundTripAbove`.
    case slowerThanWinner(roundTripAbove: Duration)
    /// No connection was established within this time, and the dial was stopped: another address had connected, or no
    /// call waited any more. The address is slow or unreachable; a measurement shows which.
    case silent(for: Duration, isMeasured: Bool = true)
    /// The first byte of a response arrived `firstByte` after the request was sent. `endpoint` is a hash that
    /// identifies the endpoint.
    case responded(firstByte: Duration, endpoint: Int = 0)
    /// A connection attempt failed or timed out, or a connection was lost.
    case failed
    /// A dial ended without a result.
    case abandoned
}
