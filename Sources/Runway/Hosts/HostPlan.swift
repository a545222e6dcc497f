/// In which order the addresses of a host are dialled.
package struct HostPlan: Sendable, Equatable {
    /// What is dialled, the best first, the families in turn after it (RFC 8305 §4).
    package var order: [IPAddress] = []
    /// What failed of late, the one first whose ban ends first: a last resort.
    package var banned: [IPAddress] = []
    /// One of ``order`` of which too little is known, to be dialled beside the first: that costs no call any time.
    package var explored: IPAddress?
    /// How long the first has before the next one starts: what it usually takes, and more; `nil` where nobody knows.
    package var stagger: Duration?

    /// Makes a plan.
    package init(
        order: [IPAddress] = [], banned: [IPAddress] = [], explored: IPAddress? = nil, stagger: Duration? = nil
    ) {
        self.order = order
        self.banned = banned
        self.explored = explored
        self.stagger = stagger
    }
}

/// What was learned of an address.
package enum HostEvent: Sendable, Equatable {
    /// A connection was made, in so many round trips' time that this is one of them.
    case dialed(roundTrip: Duration)
    /// A connection was not made when another address had won, so that a round trip takes longer than this.
    case outrun(roundTripAbove: Duration)
    /// No connection was begun in so long, when another address had won or nobody waited any more: it is slow or dead, which a
    /// measurement tells, that is under way or is left to others.
    case silent(for: Duration, isMeasured: Bool = true)
    /// On a connection to it, a response began this long after the request was sent, to an endpoint by this number.
    case answered(firstByte: Duration, endpoint: Int = 0)
    /// No connection was made, in time or at all, or one was lost.
    case failed
    /// A dial ended before anything was learned.
    case abandoned
}
