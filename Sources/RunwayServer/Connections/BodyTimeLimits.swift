/// The slowest rate at which a request body may arrive.
///
/// A client must send at least ``minimumBytesPerSecond`` on average, and may be silent for at most ``maximumSilence``.
/// Sending faster earlier does not permit a longer silence. Only the time in which the server waits for the client
/// counts.
struct BodyTimeLimits: Sendable, Hashable {
    /// The minimum average rate, in bytes per second.
    static let minimumBytesPerSecond = 500
    /// The minimum average rate of a body that takes longer than ``maximumDuration``, in bytes per second. Each
    /// received byte extends the maximum duration accordingly. The value is half a megabit per second, or 3.75 MiB per
    /// minute.
    static let longBodyBytesPerSecond = 64 << 10

    /// The maximum time without a byte, counted from the head of the request. The default is 20 s.
    var maximumSilence = Duration.seconds(20)
    /// The maximum time until the end of the body, unless it arrives at ``longBodyBytesPerSecond``. The default is one
    /// minute. `nil` sets no such limit, for bodies that are forwarded or stored as they arrive.
    var maximumDuration: Duration? = .seconds(60)
}

/// Computes the deadline for more bytes of a body. Instants are durations since an arbitrary origin.
struct BodyDeadline: Sendable {
    private let limits: BodyTimeLimits
    private var due: Duration
    /// The time when the head of the request arrived, plus the time in which the server did not wait for the client.
    private var start: Duration
    private var byteCount = 0
    /// The time since which the server processes bytes; `nil` while it waits for the client.
    private var pausedSince: Duration?

    /// - Parameter now: The time when the head of the request arrived.
    init(_ limits: BodyTimeLimits, at now: Duration) {
        self.limits = limits
        due = now + limits.maximumSilence
        start = now
    }

    /// The deadline: the body is too slow if no byte arrives before it.
    var instant: Duration { end.map { min($0, due) } ?? due }

    /// The time by which the body must be complete.
    private var end: Duration? {
        limits.maximumDuration.map {
            start + max($0, Self.time(of: byteCount, at: BodyTimeLimits.longBodyBytesPerSecond))
        }
    }

    /// Returns the time of the next check, or `nil` if the body is too slow.
    func nextCheck(at now: Duration) -> Duration? {
        if pausedSince != nil { return now + limits.maximumSilence }
        return now < instant ? instant : nil
    }

    mutating func receive(_ byteCount: Int, at now: Duration) {
        due = min(due + Self.time(of: byteCount, at: BodyTimeLimits.minimumBytesPerSecond), now + limits.maximumSilence)
        self.byteCount += byteCount
    }

    private static func time(of byteCount: Int, at bytesPerSecond: Int) -> Duration {
        .seconds(1) * (Double(byteCount) / Double(bytesPerSecond))
    }

    /// Pauses the time limits while the server does not wait for the client.
    mutating func pause(at now: Duration) { pausedSince = pausedSince ?? now }

    /// Continues the time limits: the server waits for the client again.
    mutating func resume(at now: Duration) {
        guard let since = pausedSince else { return }
        pausedSince = nil
        due += now - since
        start += now - since
    }
}
