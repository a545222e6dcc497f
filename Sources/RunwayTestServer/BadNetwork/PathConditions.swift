import RunwayTesting

/// The treatment of bytes on a path of a ``BadNetwork``.
public struct PathConditions: Sendable, Hashable {
    /// The round-trip time of bytes, half of it each way. The default is zero.
    ///
    /// The connection itself is established at once, since the system does that before it can be delayed; its first
    /// response takes this long.
    public var roundTrip: Duration
    /// The longest random extra delay each way. Order is preserved. The default is zero.
    public var jitter: Duration
    /// The fraction of parts that is lost, from 0 to 1. A lost part arrives ``retransmissionTimeout`` and a round trip
    /// later, like a retransmission; later parts wait for it. The default is 0.
    public var lossRate: Double
    /// The time, beyond a round trip, after which a sender sends a lost part again. The default is 200 ms, the shortest
    /// time of TCP on Linux.
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

    /// Returns the time that a part takes one way.
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
