/// The circuit breakers of hosts that failed recently.
struct Circuits {
    private let limits: CircuitLimits?
    private var breakers: LeastRecentlyUsed<Origin, CircuitBreaker>
    private var count: UInt64 = 0

    init(_ limits: CircuitLimits?) {
        self.limits = limits
        breakers = LeastRecentlyUsed(maximumCount: limits?.maximumHosts ?? 0, maximumByteCount: .max)
    }

    /// Whether no host failed recently, so that none has to be looked up.
    var isEmpty: Bool { breakers.count == 0 }

    /// How long calls to a host are refused for; `nil` if one may pass.
    func refusal(of origin: Origin, at now: Duration) -> Duration? { breakers.peek(origin)?.refusal(at: now) }

    /// Whether calls to a host pass without being probes.
    func isClosed(to origin: Origin) -> Bool { breakers.peek(origin).map { $0.state == .closed } ?? true }

    /// Admits a call that is not refused.
    mutating func pass(to origin: Origin, at now: Duration) -> CircuitBreaker.Pass {
        guard var breaker = breakers.value(for: origin) else { return .ordinary }
        count += 1
        let pass = breaker.pass(at: now, number: count)
        if pass != .ordinary { breakers.insert(breaker, for: origin, byteCount: 0) }
        return pass
    }

    /// Records the outcome of a call. Returns for how long the circuit opened; `nil` if it did not.
    mutating func record(
        _ outcome: CircuitBreaker.Outcome, of pass: CircuitBreaker.Pass, to origin: Origin, at now: Duration
    ) -> Duration? {
        guard let limits else { return nil }
        var breaker: CircuitBreaker
        if let known = breakers.value(for: origin) {
            breaker = known
        } else if case .failure = outcome {
            breaker = CircuitBreaker(limits)
        } else {
            return nil
        }
        let openTime = breaker.record(outcome, of: pass, at: now)
        if breaker.isIdle { breakers.remove(origin) } else { breakers.insert(breaker, for: origin, byteCount: 0) }
        return openTime
    }

    /// Closes all circuits.
    mutating func removeAll() { breakers.removeAll() }
}
