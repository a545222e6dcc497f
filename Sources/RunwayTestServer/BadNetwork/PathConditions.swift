import RunwayTesting

/// How a path of a ``BadNetwork`` treats what is sent on it.
public struct PathConditions: Sendable, Hashable {
    /// The round-trip time of bytes, half of it each way. The default is zero.
    ///
    /// A connection itself is established at once, since the system does that before it can be delayed; its first
    /// response takes this long.
    public var roundTrip: Duration
    /// The longest random extra delay each way. Order is preserved. The default is zero.
    public var jitter: Duration
    /// The share of parts that is lost, and arrives after ``retransmissionTimeout`` and a round trip more, as a
    /// retransmission would; what follows waits for it. The default is 0; between 0 and 1.
    public var lossRate: Double
    /// How long a sender waits, beyond a round trip, until it sends a lost part again. The default is 200 ms, the least
    /// that TCP waits on Linux.
    public var retransmissionTimeout: Duration

    /// Describes how a path treats bytes; see the properties for the defaults.
    public init(
        roundTrip: Duration = .zero, jitter: Duration = .zero, lossRate: Double = 0,
        retransmissionTimeout: Duration = .milliseconds(200)
    ) {
        self.roundTrip = max(roundTrip, .zero)
        self.jitter = max(jitter, .zero)
        self.lossRate = min(max(lossRate, 0), 1)
        self.retransmissionTimeout = max(retransmissionTimeout, .zero)
    }

    /// Whether any part arrives later than it was sent.
    var delaysBytes: Bool { roundTrip > .zero || jitter > .zero || lossRate > 0 }

    /// How long a part takes one way.
    func delay(using random: inout SeededGenerator) -> Duration {
        var delay = roundTrip / 2
        if jitter > .zero { delay += jitter * Double.random(in: 0...1, using: &random) }
        if lossRate > 0, Double.random(in: 0..<1, using: &random) < lossRate {
            delay += retransmissionTimeout + roundTrip
        }
        return delay
    }
}

/// The state of a path of a ``BadNetwork``.
public enum PathState: Sendable, Hashable {
    /// Bytes pass.
    case passing(PathConditions)
    /// No reply: new connections are never established, and on open ones nothing arrives until the path passes bytes
    /// again.
    case silent
    /// New connections are refused at once, and open ones are reset.
    case refusing
}
