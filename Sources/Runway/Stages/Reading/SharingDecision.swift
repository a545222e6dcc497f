/// Which calls share a request, for the record.
package enum SharingDecision: StageDecision, Equatable {
    /// The call waits for the request of another call, whose record has the attempts.
    case joined(FlightID)
    /// Another call waits for this call's request.
    case shared(with: FlightID)
    /// The call has ended, and its request continues for so many others.
    case left(others: Int)

    package static var step: FlightStep { .reading }

    package var entry: DecisionRecord {
        switch self {
        case .joined(let flight): .init("joined", ["flight": flight], "joined \(flight)")
        case .shared(let flight): .init("shared", ["flight": flight], "shared with \(flight)")
        case .left(let others):
            .init("leaderLeft", ["others": others], "left; the request continues for \(others) others")
        }
    }
}
