/// The failures of one host or endpoint, and whether it may be called: a state machine without a clock.
struct CircuitBreaker {
    /// The role of an admitted call for the circuit.
    enum Permit: Sendable, Equatable {
        /// An ordinary call.
        case ordinary
        /// The call that tests whether the host or endpoint has recovered, by its number.
        case probe(UInt64)
        /// A call that bypasses the open circuit. If it succeeds the circuit is closed. A failure changes nothing, so
        /// that a user who repeats the call does not keep the circuit open for longer.
        case bypass

        var isProbe: Bool { if case .probe = self { true } else { false } }
    }

    /// The outcome of a call, as far as the host or the endpoint is concerned.
    enum Outcome: Sendable, Equatable {
        /// The host or endpoint is healthy.
        case success
        /// The host or endpoint failed, and may have named a time to wait.
        case failure(retryAfter: Duration?)
        /// The outcome is no evidence about the host or endpoint.
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
    /// The probes that failed since the circuit was last closed.
    private var failedProbes = 0

    init(_ limits: CircuitLimits) { self.limits = limits }

    /// The time for which the circuit was last opened, without `Retry-After`.
    private var openTime: Duration {
        Backoff(base: limits.openTime, longest: limits.maximumOpenTime).bound(after: failedProbes + 1)
    }

    /// Whether the state equals that of a host or endpoint that never failed.
    var isIdle: Bool { state == .closed && failuresInARow == 0 && failuresInWindow == 0 }

    /// Returns the time for which calls are refused; `nil` if a call may pass.
    func refusal(at now: Duration) -> Duration? {
        let end: Duration
        switch state {
        case .closed: return nil
        case .open(let until): end = until
        // A second probe is sent if the first takes longer than the circuit was open for.
        case .probing(_, let since): end = since + max(openTime, .seconds(1))
        }
        return now < end ? end - now : nil
    }

    /// Admits a call that ``refusal(at:)`` does not refuse.
    ///
    /// - Parameter number: The number that identifies the call if it is a probe.
    mutating func admit(at now: Duration, number: UInt64) -> Permit {
        guard state != .closed else { return .ordinary }
        state = .probing(number, since: now)
        return .probe(number)
    }

    /// Records the outcome of a call. Returns the time for which the circuit opened; `nil` if it did not open.
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
        // A call that started before the circuit changed is no evidence now.
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
