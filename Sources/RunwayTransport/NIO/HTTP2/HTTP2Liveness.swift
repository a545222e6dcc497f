import NIOCore

/// Decides whether the server of a connection is still there: when a PING is sent, and when the connection is lost.
/// Pure: times are passed to it.
struct HTTP2Liveness {
    private let idleTimeout: TimeAmount
    /// The time without a byte after which a PING is sent; `nil` for no PING. At least 10 ms, so that the loop is not
    /// busy only with PINGs.
    private let pingInterval: TimeAmount?
    private let pingTimeout: TimeAmount
    /// The time at which bytes last arrived.
    private(set) var lastRead: NIODeadline
    /// The time at which the unacknowledged PING was sent.
    private var pingInstant: NIODeadline?

    init(_ configuration: TransportConfiguration, now: NIODeadline) {
        idleTimeout = TimeAmount(configuration.idleTimeout)
        pingInterval = configuration.wire.pingInterval.map { TimeAmount(max($0, .milliseconds(10))) }
        pingTimeout = TimeAmount(configuration.wire.pingTimeout)
        lastRead = now
    }

    /// Notes that bytes arrived.
    mutating func received(at now: NIODeadline) { (lastRead, pingInstant) = (now, nil) }

    /// Returns whether a PING has to be sent, since the connection may be lost; `false` if a PING is not acknowledged
    /// yet.
    mutating func ping(at now: NIODeadline) -> Bool {
        guard pingInstant == nil else { return false }
        pingInstant = now
        return true
    }

    /// Returns whether a PING has to be sent, since no byte arrived for the interval.
    ///
    /// - Parameter expectsBytes: Whether a silent server may be gone.
    mutating func pingIfSilent(at now: NIODeadline, expectsBytes: Bool) -> Bool {
        guard expectsBytes, let pingInterval, now - lastRead >= pingInterval else { return false }
        return ping(at: now)
    }

    /// Whether a PING was not acknowledged in time.
    func isLost(at now: NIODeadline) -> Bool { pingInstant.map { now >= $0 + pingTimeout } ?? false }

    /// Returns the time of the next time-out if no byte arrives from now on.
    func nextCheck(after now: NIODeadline, expectsBytes: Bool) -> NIODeadline {
        var delay = idleTimeout
        if expectsBytes, let pingInterval { delay = min(delay, pingInterval) }
        if pingInstant != nil { delay = min(delay, pingTimeout) }
        return now + delay
    }

    /// Returns the time of the next time-out, counted from the last byte and from the PING in flight.
    func nextCheck(at now: NIODeadline, expectsBytes: Bool) -> NIODeadline {
        let next = nextCheck(after: now, expectsBytes: expectsBytes)
        if let pingInstant { return min(next, pingInstant + pingTimeout) }
        guard expectsBytes, let pingInterval else { return next }
        return min(next, lastRead + pingInterval)
    }
}
