/// What became of a read that was slow, for the record. A read that was quick has none.
public enum Hedge: FlightDecision, Equatable {
    /// One of the two attempts.
    public enum Contender: String, Sendable, Hashable, CaseIterable {
        /// The one that left first.
        case first
        /// The one that left because the first was slow.
        case second

        var other: Contender { self == .first ? .second : .first }
    }

    /// Why a slow read got no second attempt.
    public enum Reason: String, Sendable, Hashable {
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

    /// The stage.
    public static var step: FlightStep { .stage(.hedging) }

    /// What the stage decided, as a log shows it.
    public var description: String {
        switch self {
        case .started(let delay): "hedged: no answer after \(delay.text)"
        case .heldBack(let reason): "not hedged: \(reason.rawValue)"
        case .won(let contender, let time): "the \(contender.rawValue) attempt was answered first, after \(time.text)"
        case .lost: "neither attempt was answered well"
        }
    }
}
