/// What was done about cookies of one request and its answer. Neither names nor values are on the record.
package enum CookieDecision: StageDecision, Equatable {
    /// So many were sent.
    case sent(Int)
    /// So many of the answer were kept, or ended what was kept.
    case kept(Int)
    /// So many of the answer were ignored, as RFC 6265bis says.
    case ignored(Int)

    package static var step: FlightStep { .stage(.cookies) }

    package var entry: DecisionEntry {
        switch self {
        case .sent(let count): .init("sent", ["count": count], "sent \(count)")
        case .kept(let count): .init("stored", ["count": count], "stored \(count)")
        case .ignored(let count): .init("ignored", ["count": count], "ignored \(count)")
        }
    }
}
