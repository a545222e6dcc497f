import Synchronization

/// What the flights of a layer share for retries: the budgets of hosts, and the jitter of backoffs.
final class RetryControl: Sendable {
    private let randomness: LayerRandomness
    /// Guards the budgets.
    private let budgets: Mutex<HostBudgets>

    init(limits: AttemptLimits, randomness: LayerRandomness) {
        self.randomness = randomness
        budgets = Mutex(HostBudgets(limits))
    }

    /// Adds to the budget of a host what a call to it earns.
    func deposit(for origin: @autoclosure () -> Origin) {
        budgets.withLock { budgets in
            guard !budgets.areFull else { return }
            budgets.deposit(for: origin())
        }
    }

    /// Decides whether a request is sent once more after a failure, and when.
    ///
    /// - Parameters:
    ///   - request: The request that failed.
    ///   - attempt: How many attempts were made.
    ///   - cause: Why the last one failed.
    ///   - retryAfter: The wait that the server demands. The default is `nil`.
    ///   - isCircuitOpen: Whether the circuit to the host is open. The default is `false`.
    ///   - origin: The host whose budget pays; `nil` if the attempt costs nothing, since the last one made progress.
    /// - Returns: The wait before the next attempt, with jitter.
    /// - Throws: Why none is made.
    func decide(
        _ request: Request, after attempt: Int, _ cause: RetryCause, retryAfter: Duration? = nil,
        isCircuitOpen: Bool = false, paidBy origin: Origin?, in flight: Flight
    ) throws(RetryDecision.Reason) -> Duration {
        let policy = flight.retryPolicy
        guard attempt < policy.maximumAttempts else { throw .attemptsUsed(attempt) }
        guard policy.allows(request, after: cause) else { throw .notRepeatable }
        guard request.body.isReplayable else { throw .bodyUsed }
        if isCircuitOpen { throw .circuitOpen }
        let wait = (retryAfter ?? .zero) + jitter(upTo: policy.ceiling(after: attempt))
        guard flight.clock.now + wait < flight.deadline else { throw .deadline(wait: wait) }
        // Taken last, so that no attempt is taken that is not made.
        if let origin, !withdraw(for: origin) { throw .budgetSpent }
        return wait
    }

    /// Takes one retry from the budget of a host; returns `false` if none is left.
    func withdraw(for origin: Origin) -> Bool { budgets.withLock { $0.withdraw(for: origin) } }

    /// A backoff between zero and `ceiling`, uniformly distributed.
    func jitter(upTo ceiling: Duration) -> Duration { randomness.duration(upTo: ceiling) }
}
