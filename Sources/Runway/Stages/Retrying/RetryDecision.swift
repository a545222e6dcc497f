/// A decision of the retrying stage after a failed attempt, for the call's record.
package enum RetryDecision: StageDecision, Equatable {
    /// A further attempt is made.
    ///
    /// - Parameters:
    ///   - attempt: The number of the attempt; the first attempt of a call is 1.
    ///   - wait: The delay before the attempt.
    ///   - cause: The reason for the attempt.
    ///   - retryAfter: The delay that the server requested, which is part of `wait`.
    case again(attempt: Int, wait: Duration, cause: RetryCause, retryAfter: Duration?)
    /// No further attempt is made, although the failure may be temporary.
    case gaveUp(Reason, cause: RetryCause)

    /// The reason why a temporary failure caused no further attempt.
    package enum Reason: Error, Equatable {
        /// The maximum number of attempts in the policy has been reached.
        case attemptsUsed(Int)
        /// The request may have had its effect, and a further attempt might cause it twice.
        case notRepeatable
        /// The body was a stream that can't be read again.
        case bodyUsed
        /// The host's budget of further attempts is exhausted.
        case budgetSpent
        /// The circuit of the host or the endpoint is open, or this call is its probe.
        case circuitOpen
        /// The wait would end after the call's deadline.
        case deadline(wait: Duration)
    }

    package static var step: FlightStep { .retrying }

    package var entry: DecisionRecord {
        switch self {
        case .again(let attempt, let wait, let cause, let retryAfter):
            .init(
                "retried", ["attempt": attempt, "wait": wait, "cause": cause, "retryAfter": retryAfter],
                "\(cause): attempt \(attempt) in \(wait.text)\(retryAfter.map { ", of which the server asked for \($0.text)" } ?? "")"
            )
        case .gaveUp(.attemptsUsed(let count), let cause):
            .init(
                "gaveUp", ["reason": "attempts used", "count": count, "cause": cause],
                "\(cause): given up after \(count) attempts")
        case .gaveUp(.notRepeatable, let cause):
            .init(
                "gaveUp", ["reason": "not repeatable", "cause": cause],
                "\(cause): not retried, the request may have had its effect")
        case .gaveUp(.bodyUsed, let cause):
            .init(
                "gaveUp", ["reason": "body used", "cause": cause],
                "\(cause): not retried, the body can't be sent twice")
        case .gaveUp(.budgetSpent, let cause):
            .init(
                "gaveUp", ["reason": "budget spent", "cause": cause],
                "\(cause): not retried, the host's budget is spent")
        case .gaveUp(.circuitOpen, let cause):
            .init(
                "gaveUp", ["reason": "circuit open", "cause": cause],
                "\(cause): not retried, the circuit is open")
        case .gaveUp(.deadline(let wait), let cause):
            .init(
                "gaveUp", ["reason": "deadline", "wait": wait, "cause": cause],
                "\(cause): not retried, \(wait.text) of waiting would end after the deadline")
        }
    }
}
