/// Who shares whose request, for the record.
package enum Coalescing: StageDecision, Equatable {
    /// The call takes the answer of a request that is under way. It sends none of its own: what flies is in the record of that call.
    case joined(FlightID)
    /// Another call takes the answer of this one's request.
    case shared(with: FlightID)
    /// The call is over, and its request flies on for so many others.
    case left(others: Int)

    package static var step: FlightStep { .stage(.coalescing) }

    package var entry: DecisionEntry {
        switch self {
        case .joined(let flight): .init("joined", ["flight": flight], "joined \(flight)")
        case .shared(let flight): .init("shared", ["flight": flight], "shared with \(flight)")
        case .left(let others):
            .init("leaderLeft", ["others": others], "left; the request continues for \(others) others")
        }
    }
}
