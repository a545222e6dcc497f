/// The slowest pace at which the body of a request may arrive.
///
/// A client must send at ``minimumBytesPerSecond`` on average, and may be silent for ``maximumSilence``. Faster sending
/// does not extend that silence: a client that sends a megabyte and stops has the same seconds as one that sends
/// nothing. Only the time in which the server waits for the client counts.
struct BodyTimeLimits: Sendable, Hashable {
    /// The least average rate, in bytes per second.
    static let minimumBytesPerSecond = 500
    /// The lowest average rate of a body that takes longer than ``maximumDuration``, in bytes per second: received
    /// bytes extend the longest time accordingly. Half a megabit per second, that is 3.75 MiB in a minute.
    static let longBodyBytesPerSecond = 64 << 10

    /// The longest time without a byte, from the head of the request on. The default is 20 s.
    var maximumSilence = Duration.seconds(20)
    /// The longest time until the end of the body, unless it arrives at ``longBodyBytesPerSecond``. `nil` sets no such
    /// limit: for bodies that are passed on or stored as they arrive. The default is a minute.
    var maximumDuration: Duration? = .seconds(60)
}

/// Decides by when more of a body must come. Instants are durations since any origin.
struct BodyDeadline: Sendable {
    private let limits: BodyTimeLimits
    /// The time by which a byte must arrive.
    private var due: Duration
    /// The time at which the head of the request arrived, plus the time in which the server did not wait.
    private var start: Duration
    private var byteCount = 0
    /// The time since which the server waits for itself, and not for the client.
    private var pausedSince: Duration?

    /// Begins when the head of the request has arrived.
    init(_ limits: BodyTimeLimits, at now: Duration) {
        self.limits = limits
        due = now + limits.maximumSilence
        start = now
    }

    /// The instant at which the body is too slow if no byte arrives before it.
    var instant: Duration { end.map { min($0, due) } ?? due }

    /// The time by which the body must end.
    private var end: Duration? {
        limits.maximumDuration.map {
            start + max($0, Self.time(of: byteCount, at: BodyTimeLimits.longBodyBytesPerSecond))
        }
    }

    /// Returns the time of the next check of the deadline; `nil` if the body is too slow.
    func nextCheck(at now: Duration) -> Duration? {
        if pausedSince != nil { return now + limits.maximumSilence }
        return now < instant ? instant : nil
    }

    /// Records bytes of the body.
    mutating func receive(_ byteCount: Int, at now: Duration) {
        due = min(due + Self.time(of: byteCount, at: BodyTimeLimits.minimumBytesPerSecond), now + limits.maximumSilence)
        self.byteCount += byteCount
    }

    private static func time(of byteCount: Int, at bytesPerSecond: Int) -> Duration {
        .seconds(1) * (Double(byteCount) / Double(bytesPerSecond))
    }

    /// Records that the server has processed all received bytes, and does not wait for more.
    mutating func pause(at now: Duration) { pausedSince = pausedSince ?? now }

    /// Continues the time limit: the server waits for the client again.
    mutating func resume(at now: Duration) {
        guard let since = pausedSince else { return }
        pausedSince = nil
        due += now - since
        start += now - since
    }
}
