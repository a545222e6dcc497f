/// A decision about hedging a slow read, for the call's record. A fast read adds no decision.
package enum HedgeDecision: StageDecision, Equatable {
    package enum Contender: String, Sendable, Hashable, CaseIterable {
        case first
        case second

        var other: Contender { self == .first ? .second : .first }
    }

    /// The reason why a slow read got no second attempt. The names appear in records and do not change between
    /// releases.
    package enum Reason: String, Sendable, Hashable {
        /// The host's budget of second attempts is exhausted.
        case budgetSpent = "budget spent"
        /// The circuit of the host or the endpoint is open, or this call is its probe.
        case circuitOpen = "circuit open"
        /// The user asked for low data use.
        case constrained = "constrained network"
    }

    /// The first attempt had no response after this delay, so a second one was sent.
    case started(after: Duration)
    /// The first attempt had no response in time, but no second one was sent.
    case notStarted(Reason)
    /// This attempt received its response first. `after` is counted from the start of the first attempt. The other
    /// attempt was cancelled.
    case won(Contender, after: Duration)
    /// Neither attempt received a good response.
    case lost

    package static var step: FlightStep { .hedging }

    package var entry: DecisionRecord {
        switch self {
        case .started(let delay): .init("started", ["delay": delay], "hedged: no response after \(delay.text)")
        case .notStarted(let reason): .init("notStarted", ["reason": reason.rawValue], "not hedged: \(reason.rawValue)")
        case .won(let contender, let time):
            .init(
                "won", ["attempt": contender, "time": time], "the \(contender.rawValue) attempt won after \(time.text)")
        case .lost: .init("bothFailed", "neither attempt succeeded")
        }
    }
}
