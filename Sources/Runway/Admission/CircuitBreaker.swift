/// The state machine of one circuit. It counts the failures of a host or endpoint and decides whether calls may pass.
/// It reads no clock.
struct CircuitBreaker {
    /// The way in which the circuit admitted a call.
    enum Permit: Sendable, Equatable {
        case ordinary
        /// A probe: a call that tests whether the host or endpoint has recovered. The number identifies it.
        case probe(UInt64)
        /// A call that bypasses the open circuit. Its success closes the circuit. Its failure changes nothing: a user
        /// who repeats the call must not prolong the open time.
        case bypass

        var isProbe: Bool { if case .probe = self { true } else { false } }
    }

    /// The outcome of a call for one host or endpoint.
    enum Outcome: Sendable, Equatable {
        case success
        /// The host or endpoint failed. `retryAfter` is the wait that the server asked for, or `nil` if it asked for
        /// none.
        case failure(retryAfter: Duration?)
        /// The outcome says nothing about the health of the host or endpoint.
        case unknown
    }

    enum State: Equatable {
        case closed
        case open(until: Duration)
        case probing(UInt64, since: Duration)
    }

    private(set) var state = State.closed
    /// The number of failures since the last success.
    private(set) var failuresInARow = 0
    private let limits: CircuitLimits
    private var windowStart = Duration.zero
    private var outcomesInWindow = 0
    private var failuresInWindow = 0
    /// The number of probes that failed since the circuit was last closed.
    private var failedProbes = 0

    init(_ limits: CircuitLimits) { self.limits = limits }

    /// The time for which the circuit will stay open when it opens next, unless the server's `Retry-After` is longer.
    /// It doubles with every failed probe, up to ``CircuitLimits/maximumOpenTime``.
    private var openTime: Duration {
        Backoff(base: limits.openTime, longest: limits.maximumOpenTime).bound(after: failedProbes + 1)
    }

    /// Whether the circuit is in its initial state, as if no call had ever failed.
    var isIdle: Bool { state == .closed && failuresInARow == 0 && failuresInWindow == 0 }

    /// Returns the time for which calls are refused, or `nil` if a call may pass.
    func refusal(at now: Duration) -> Duration? {
        let end: Duration
        switch state {
        case .closed: return nil
        case .open(let until): end = until
        // If the probe takes longer than the circuit's open time, a second probe is sent.
        case .probing(_, let since): end = since + max(openTime, .seconds(1))
        }
        return now < end ? end - now : nil
    }

    /// Admits a call. The caller must first check that ``refusal(at:)`` returns `nil`.
    ///
    /// - Parameter number: Identifies the call if it becomes a probe.
    mutating func admit(at now: Duration, number: UInt64) -> Permit {
        guard state != .closed else { return .ordinary }
        state = .probing(number, since: now)
        return .probe(number)
    }

    /// Records the outcome of a call. Returns the time for which the circuit opened, or `nil` if it did not open.
    mutating func record(_ outcome: Outcome, of permit: Permit, at now: Duration) -> Duration? {
        switch (state, permit) {
        case (.closed, .ordinary): return count(outcome, at: now)
        case (.probing(let current, _), .probe(let number)) where current == number:
            switch outcome {
            case .success: self = CircuitBreaker(limits)
            case .unknown: state = .open(until: now)
            case .failure(let retryAfter):
                failuresInARow += 1
                failedProbes += 1
                return open(retryAfter, at: now)
            }
            return nil
        case (.open, .bypass), (.probing, .bypass):
            if outcome == .success { self = CircuitBreaker(limits) }
            return nil
        // The call started before the circuit changed state, so its outcome no longer counts.
        default: return nil
        }
    }

    private mutating func count(_ outcome: Outcome, at now: Duration) -> Duration? {
        if now - windowStart >= limits.window { (outcomesInWindow, failuresInWindow) = (0, 0) }
        switch outcome {
        case .unknown: return nil
        case .success:
            failuresInARow = 0
            if failuresInWindow > 0 { outcomesInWindow += 1 }
            return nil
        case .failure(let retryAfter):
            if failuresInWindow == 0 { windowStart = now }
            failuresInARow += 1
            outcomesInWindow += 1
            failuresInWindow += 1
            let isHalf = outcomesInWindow >= limits.minimumOutcomes && failuresInWindow * 2 >= outcomesInWindow
            return failuresInARow >= limits.consecutiveFailures || isHalf ? open(retryAfter, at: now) : nil
        }
    }

    private mutating func open(_ retryAfter: Duration?, at now: Duration) -> Duration {
        let time = max(openTime, min(retryAfter ?? .zero, limits.maximumOpenTime))
        state = .open(until: now + time)
        return time
    }
}
