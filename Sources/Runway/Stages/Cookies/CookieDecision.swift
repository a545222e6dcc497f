/// What was done about cookies of one request and its answer. Neither names nor values are on the record.
public enum CookieDecision: FlightDecision, Equatable {
    /// So many were sent.
    case sent(Int)
    /// So many of the answer were kept, or ended what was kept.
    case kept(Int)
    /// So many of the answer were ignored, as RFC 6265bis says.
    case ignored(Int)

    /// The step.
    public static var step: FlightStep { .stage(.cookies) }

    /// What was decided, as a log shows it.
    public var description: String {
        switch self {
        case .sent(let count): "sent \(count)"
        case .kept(let count): "kept \(count)"
        case .ignored(let count): "ignored \(count)"
        }
    }
}
