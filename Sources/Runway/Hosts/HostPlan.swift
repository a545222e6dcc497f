/// The order in which the addresses of a host are dialled.
package struct HostPlan: Sendable, Equatable {
    /// The time after which the next address is dialled if no latency of the first one is known (RFC 8305 §5 and §8).
    package static let defaultStagger = Duration.milliseconds(250)

    /// The addresses in the order of dialling: the best first, then alternating families (RFC 8305 §4).
    package var order: [IPAddress] = []
    /// Addresses that failed recently, the one whose ban ends first in front. They are dialled after all others.
    package var banned: [IPAddress] = []
    /// An address of ``order`` with too few measurements. It is dialled in parallel to the first one, so that no call
    /// waits for it.
    package var explored: IPAddress?
    /// The time to wait for the first address before the next one is dialled: longer than it usually takes; `nil` if
    /// that is unknown.
    package var stagger: Duration?

    /// Describes an order of addresses; by default none is preferred, banned or explored.
    package init(
        order: [IPAddress] = [], banned: [IPAddress] = [], explored: IPAddress? = nil, stagger: Duration? = nil
    ) {
        self.order = order
        self.banned = banned
        self.explored = explored
        self.stagger = stagger
    }
}

/// An observation about an address.
package enum HostEvent: Sendable, Equatable {
    /// A connection was established; this is the time of one round trip.
    case dialed(roundTrip: Duration)
    /// Another address connected first, before this one did. The round trip to this address therefore takes longer than
    /// `roundTripAbove`.
    case slowerThanWinner(roundTripAbove: Duration)
    /// No connection was established within this time: another address had connected by then, or no call waited any
    /// more. The address is slow or unreachable; a measurement in progress, or a later one, decides which.
    case silent(for: Duration, isMeasured: Bool = true)
    /// A response began on a connection to the address, `firstByte` after its request was sent. `endpoint` identifies
    /// the endpoint.
    case responded(firstByte: Duration, endpoint: Int = 0)
    /// A connection attempt failed or timed out, or a connection was lost.
    case failed
    /// A dial ended without a result.
    case abandoned
}
