/// Who shares whose request, for the record.
public enum Coalescing: FlightDecision, Equatable {
    /// The call takes the answer of a request that is under way. It sends none of its own: what flies is in the record of that call.
    case joined(FlightID)
    /// Another call takes the answer of this one's request.
    case shared(with: FlightID)
    /// The call is over, and its request flies on for so many others.
    case left(others: Int)

    /// The stage.
    public static var step: FlightStep { .stage(.coalescing) }

    /// What the stage decided, as a log shows it.
    public var description: String {
        switch self {
        case .joined(let flight): "joined \(flight)"
        case .shared(let flight): "shared with \(flight)"
        case .left(let others): "left, the request flies on for \(others)"
        }
    }
}
