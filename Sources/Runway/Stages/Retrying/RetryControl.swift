import Synchronization

/// The state for retries that all calls of a layer share: the budgets of hosts, and the jitter of backoffs.
final class RetryControl: Sendable {
    private let randomness: LayerRandomness
    /// Guards the budgets.
    private let budgets: Mutex<HostBudgets>

    init(limits: AttemptLimits, randomness: LayerRandomness) {
        self.randomness = randomness
        budgets = Mutex(HostBudgets(limits))
    }

    /// Credits one call to the budget of its host.
    func deposit(for origin: @autoclosure () -> Origin) {
        budgets.withLock { budgets in
            guard !budgets.areFull else { return }
            budgets.deposit(for: origin())
        }
    }

    /// Decides whether and when a request is sent again after a failure.
    ///
    /// - Parameters:
    ///   - request: The request that failed.
    ///   - attempt: The number of attempts so far.
    ///   - cause: The reason why the last attempt failed.
    ///   - retryAfter: The wait that the server requests. The default is `nil`.
    ///   - isCircuitOpen: Whether the circuit of the host is open. The default is `false`.
    ///   - origin: The host whose budget is used; `nil` if the attempt uses no budget, because the last one made
    ///     progress.
    /// - Returns: The wait before the next attempt, with jitter.
    /// - Throws: The reason why no attempt is made.
    func decide(
        _ request: Request, after attempt: Int, _ cause: RetryCause, retryAfter: Duration? = nil,
        isCircuitOpen: Bool = false, paidBy origin: Origin?, in flight: Flight
    ) throws(RetryDecision.Reason) -> Duration {
        let policy = flight.retryPolicy
        guard attempt < policy.maximumAttempts else { throw .attemptsUsed(attempt) }
        guard policy.allows(request, after: cause) else { throw .notRepeatable }
        guard request.body.isReplayable else { throw .bodyUsed }
        if isCircuitOpen { throw .circuitOpen }
        let wait = (retryAfter ?? .zero) + backoff(after: attempt, policy)
        guard flight.clock.now + wait < flight.deadline else { throw .deadline(wait: wait) }
        // The budget is checked last, so that it is not used for an attempt that is not made.
        if let origin, !withdraw(for: origin) { throw .budgetSpent }
        return wait
    }

    /// Waits before a transfer continues after an interruption, if the call's policy, the host's budget and the
    /// deadline allow it. The record shows the interruption, or why the transfer does not continue.
    ///
    /// - Parameters:
    ///   - request: The request to send next.
    ///   - attempt: The number of attempts so far.
    ///   - cause: The interruption of the last attempt.
    ///   - retryAfter: The wait that the server requests. The default is `nil`.
    ///   - origin: The host whose budget is used; `nil` if the attempt uses no budget, because the last one made
    ///     progress.
    ///   - error: The error of the interruption.
    ///   - decision: Returns the interruption for the record. It receives the wait that follows.
    /// - Throws: `error` if the transfer does not continue; ``NetworkError/Kind/cancelled`` if the task is cancelled.
    func waitAfterInterruption<Decision: StageDecision>(
        _ request: Request, after attempt: Int, _ cause: RetryCause, retryAfter: Duration? = nil,
        paidBy origin: Origin?, in flight: Flight, failing error: NetworkError, noting decision: (Duration) -> Decision
    ) async throws(NetworkError) {
        let wait: Duration
        do throws(RetryDecision.Reason) {
            wait = try decide(request, after: attempt, cause, retryAfter: retryAfter, paidBy: origin, in: flight)
        } catch let reason {
            // If the caller allows only one attempt, the record need not explain why there is no further one.
            if flight.retryPolicy.maximumAttempts > 1 { flight.note(RetryDecision.gaveUp(reason, cause: cause)) }
            throw error
        }
        flight.note(decision(wait))
        do { try await flight.clock.sleep(until: flight.clock.now + wait) } catch {
            throw .cancelled(in: Decision.step)
        }
    }

    /// Withdraws one retry from the budget of a host. Returns `false` if the budget is exhausted.
    func withdraw(for origin: Origin) -> Bool { budgets.withLock { $0.withdraw(for: origin) } }

    /// Returns a random wait after an attempt. Attempts are counted from 1.
    func backoff(after attempt: Int, _ policy: RetryPolicy) -> Duration {
        randomness.wait(policy.backoff, after: attempt)
    }
}
