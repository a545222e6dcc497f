/// What became of a read that was slow, for the record. A read that was quick has none.
package enum Hedge: StageDecision, Equatable {
    /// One of the two attempts.
    package enum Contender: String, Sendable, Hashable, CaseIterable {
        /// The one that left first.
        case first
        /// The one that left because the first was slow.
        case second

        var other: Contender { self == .first ? .second : .first }
    }

    /// Why a slow read got no second attempt.
    package enum Reason: String, Sendable, Hashable {
        /// The host's budget of second attempts is spent.
        case budgetSpent = "the host's budget is spent"
        /// The host's circuit is open, or this call is the one that looks whether it can be closed.
        case circuitOpen = "the host's circuit is open"
        /// The user asked for few bytes.
        case constrained = "the network is constrained"
    }

    /// The first attempt was not answered so long, and a second one left beside it.
    case started(after: Duration)
    /// The first attempt was not answered in time, and no second one left.
    case heldBack(Reason)
    /// An attempt was answered first, so long after the first one left, and the other one was called off.
    case won(Contender, after: Duration)
    /// Neither attempt was answered well.
    case lost

    package static var step: FlightStep { .stage(.hedging) }

    package var entry: DecisionEntry {
        switch self {
        case .started(let delay): .init("started", ["delay": delay], "hedged: no response after \(delay.text)")
        case .heldBack(let reason): .init("notStarted", ["reason": reason], "not hedged: \(reason.rawValue)")
        case .won(let contender, let time):
            .init(
                "won", ["attempt": contender, "time": time], "the \(contender.rawValue) attempt won after \(time.text)")
        case .lost: .init("bothFailed", "neither attempt succeeded")
        }
    }
}
