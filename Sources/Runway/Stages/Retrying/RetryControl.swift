import Synchronization

/// The state for retries that all flights of a layer share: the budgets of hosts, and the jitter of backoffs.
final class RetryControl: Sendable {
    private let randomness: LayerRandomness
    /// Guards the budgets.
    private let budgets: Mutex<HostBudgets>

    init(limits: AttemptLimits, randomness: LayerRandomness) {
        self.randomness = randomness
        budgets = Mutex(HostBudgets(limits))
    }

    /// Adds the share that a call earns to the budget of its host.
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
    ///   - attempt: The number of attempts that were made.
    ///   - cause: The reason why the last attempt failed.
    ///   - retryAfter: The wait that the server demands. The default is `nil`.
    ///   - isCircuitOpen: Whether the circuit to the host is open. The default is `false`.
    ///   - origin: The host whose budget pays; `nil` if the attempt costs nothing, since the last one made progress.
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
        // Taken last, so that no attempt is taken that is not made.
        if let origin, !withdraw(for: origin) { throw .budgetSpent }
        return wait
    }

    /// Waits before a transfer continues after an interruption, if the call's policy, the host's budget and the
    /// deadline allow it. The record shows the interruption, or the reason why the transfer does not continue.
    ///
    /// - Parameters:
    ///   - request: The request that is sent next.
    ///   - attempt: The number of attempts that were made.
    ///   - cause: The interruption of the last attempt.
    ///   - retryAfter: The wait that the server demands. The default is `nil`.
    ///   - origin: The host whose budget pays; `nil` if the attempt costs nothing, since the last one made progress.
    ///   - error: The error of the interruption.
    ///   - decision: Returns the interruption for the record, from the wait that follows it.
    /// - Throws: `error`, if the transfer does not continue; ``NetworkError/Kind/cancelled`` if the task is cancelled.
    func waitAfterInterruption<Decision: StageDecision>(
        _ request: Request, after attempt: Int, _ cause: RetryCause, retryAfter: Duration? = nil,
        paidBy origin: Origin?, in flight: Flight, failing error: NetworkError, noting decision: (Duration) -> Decision
    ) async throws(NetworkError) {
        let wait: Duration
        do throws(RetryDecision.Reason) {
            wait = try decide(request, after: attempt, cause, retryAfter: retryAfter, paidBy: origin, in: flight)
        } catch let reason {
            // A caller that allows one attempt needs no reason for the lack of another.
            if flight.retryPolicy.maximumAttempts > 1 { flight.note(RetryDecision.gaveUp(reason, cause: cause)) }
            throw error
        }
        flight.note(decision(wait))
        do { try await flight.clock.sleep(until: flight.clock.now + wait) } catch {
            throw .cancelled(in: Decision.step)
        }
    }

    /// Takes one retry from the budget of a host; returns `false` if none is left.
    func withdraw(for origin: Origin) -> Bool { budgets.withLock { $0.withdraw(for: origin) } }

    /// Chooses the wait after an attempt, counted from 1.
    func backoff(after attempt: Int, _ policy: RetryPolicy) -> Duration {
        randomness.wait(policy.backoff, after: attempt)
    }
}
