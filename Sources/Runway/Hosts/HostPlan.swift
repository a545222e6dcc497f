/// In which order the addresses of a host are dialled.
package struct HostPlan: Sendable, Equatable {
    /// How long after an address the next one starts, if nothing is known of the first (RFC 8305 §5 and §8).
    package static let defaultStagger = Duration.milliseconds(250)

    /// The addresses in the order of dialling: the best first, then alternating families (RFC 8305 §4).
    package var order: [IPAddress] = []
    /// What failed of late, the one first whose ban ends first: a last resort.
    package var banned: [IPAddress] = []
    /// One of ``order`` with too few measurements, to be dialled in parallel to the first: that delays no call.
    package var explored: IPAddress?
    /// How long to wait for the first before the next one starts: longer than it usually takes; `nil` if that is unknown.
    package var stagger: Duration?

    /// Creates a plan.
    package init(
        order: [IPAddress] = [], banned: [IPAddress] = [], explored: IPAddress? = nil, stagger: Duration? = nil
    ) {
        self.order = order
        self.banned = banned
        self.explored = explored
        self.stagger = stagger
    }
}

/// A result about an address.
package enum HostEvent: Sendable, Equatable {
    /// A connection was established; this is the time of one round trip.
    case dialed(roundTrip: Duration)
    /// A connection was not made when another address had won, so that a round trip takes longer than this.
    case slowerThanWinner(roundTripAbove: Duration)
    /// No connection was established within this time, when another address had won or no call waited any more: it is slow or
    /// unreachable, which a measurement in progress, or a later one, will show.
    case silent(for: Duration, isMeasured: Bool = true)
    /// On a connection to it, a response began this long after the request was sent, to an endpoint by this number.
    case responded(firstByte: Duration, endpoint: Int = 0)
    /// No connection was made, in time or at all, or one was lost.
    case failed
    /// A dial ended before anything was learned.
    case abandoned
}
