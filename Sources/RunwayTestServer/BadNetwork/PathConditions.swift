import RunwayTesting

/// The delay, jitter and loss on a path of a ``BadNetwork``.
public struct PathConditions: Sendable, Hashable {
    /// The round-trip time, half of it in each direction. The default is zero.
    ///
    /// The system establishes connections without delay, so only the bytes on them take this time.
    public var roundTrip: Duration
    /// The maximum random delay that is added in each direction. The order of bytes is preserved. The default is zero.
    public var jitter: Duration
    /// The fraction of parts that are lost, from 0 to 1. A lost part arrives later, by ``retransmissionTimeout`` and a
    /// round trip, like a retransmission. Later parts wait for it. The default is 0.
    public var lossRate: Double
    /// The time after which a sender sends a lost part again, in addition to a round trip. The default is 200 ms, the
    /// minimum of TCP on Linux.
    public var retransmissionTimeout: Duration

    /// Creates conditions; see the properties for the defaults.
    public init(
        roundTrip: Duration = .zero, jitter: Duration = .zero, lossRate: Double = 0,
        retransmissionTimeout: Duration = .milliseconds(200)
    ) {
        self.roundTrip = max(roundTrip, .zero)
        self.jitter = max(jitter, .zero)
        self.lossRate = min(max(lossRate, 0), 1)
        self.retransmissionTimeout = max(retransmissionTimeout, .zero)
    }

    /// Whether bytes may arrive later than they were sent.
    var delaysBytes: Bool { roundTrip > .zero || jitter > .zero || lossRate > 0 }

    /// Returns the delay of some bytes that were sent together in one direction.
    func delay(using random: inout SeededGenerator) -> Duration {
        var delay = roundTrip / 2
        if jitter > .zero { delay += jitter * Double.random(in: 0...1, using: &random) }
        if lossRate > 0, Double.random(in: 0..<1, using: &random) < lossRate {
            delay += retransmissionTimeout + roundTrip
        }
        return delay
    }
}

/// The behaviour of a path of a ``BadNetwork``.
public enum PathState: Sendable, Hashable {
    /// Bytes are forwarded under the associated conditions.
    case passing(PathConditions)
    /// Nothing is forwarded. New connections are never established. Open connections receive nothing until the path
    /// forwards bytes again.
    case silent
    /// New connections are refused at once, and open ones are reset.
    case refusing
}
