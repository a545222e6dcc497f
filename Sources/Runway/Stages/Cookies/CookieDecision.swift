/// How many cookies one request and its response sent, stored or ignored. Neither names nor values are on the record.
package enum CookieDecision: StageDecision, Equatable {
    /// The number of cookies that were sent.
    case sent(Int)
    /// The number of cookies of the response that were stored, or removed a stored one.
    case stored(Int)
    /// The number of cookies of the response that were ignored, as RFC 6265bis requires.
    case ignored(Int)

    package static var step: FlightStep { .cookies }

    package var entry: DecisionRecord {
        switch self {
        case .sent(let count): .init("sent", ["count": count], "sent \(count)")
        case .stored(let count): .init("stored", ["count": count], "stored \(count)")
        case .ignored(let count): .init("ignored", ["count": count], "ignored \(count)")
        }
    }
}
