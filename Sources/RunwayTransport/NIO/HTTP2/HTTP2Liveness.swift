import NIOCore

/// Decides when to send a PING, and when the server counts as lost. It reads no clock: times are parameters.
struct HTTP2Liveness {
    private let idleTimeout: TimeAmount
    /// The time without a received byte after which a PING is sent; `nil` sends no PING. It is at least 10 ms, so that
    /// PINGs do not occupy the event loop.
    private let pingInterval: TimeAmount?
    private let pingTimeout: TimeAmount
    /// The time when bytes last arrived.
    private(set) var lastRead: NIODeadline
    /// The time when the unacknowledged PING was sent.
    private var pingInstant: NIODeadline?

    init(_ configuration: TransportConfiguration, now: NIODeadline) {
        idleTimeout = TimeAmount(configuration.idleTimeout)
        pingInterval = configuration.wire.pingInterval.map { TimeAmount(max($0, .milliseconds(10))) }
        pingTimeout = TimeAmount(configuration.wire.pingTimeout)
        lastRead = now
    }

    mutating func received(at now: NIODeadline) { (lastRead, pingInstant) = (now, nil) }

    /// Returns whether to send a PING because the connection may be lost. Returns `false` if a PING is unacknowledged.
    mutating func ping(at now: NIODeadline) -> Bool {
        guard pingInstant == nil else { return false }
        pingInstant = now
        return true
    }

    /// Returns whether to send a PING because no byte arrived for the interval.
    ///
    /// - Parameter expectsBytes: Whether a silent server may be unreachable.
    mutating func pingIfSilent(at now: NIODeadline, expectsBytes: Bool) -> Bool {
        guard expectsBytes, let pingInterval, now - lastRead >= pingInterval else { return false }
        return ping(at: now)
    }

    func isLost(at now: NIODeadline) -> Bool { pingInstant.map { now >= $0 + pingTimeout } ?? false }

    /// Returns the time of the next check, if no byte arrives in the meantime.
    func nextCheck(after now: NIODeadline, expectsBytes: Bool) -> NIODeadline {
        var delay = idleTimeout
        if expectsBytes, let pingInterval { delay = min(delay, pingInterval) }
        if pingInstant != nil { delay = min(delay, pingTimeout) }
        return now + delay
    }

    /// Returns the time of the next check, counted from the last byte or from the unacknowledged PING.
    func nextCheck(at now: NIODeadline, expectsBytes: Bool) -> NIODeadline {
        let next = nextCheck(after: now, expectsBytes: expectsBytes)
        if let pingInstant { return min(next, pingInstant + pingTimeout) }
        guard expectsBytes, let pingInterval else { return next }
        return min(next, lastRead + pingInterval)
    }
}
