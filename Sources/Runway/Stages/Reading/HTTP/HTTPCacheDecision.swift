/// What the cache decided by the rules of HTTP, for the record.
package enum HTTPCacheDecision: StageDecision, Equatable {
    /// What is kept was given; it stays fresh for so long.
    case fresh(age: Duration, remaining: Duration)
    /// What is kept was given although it is so much too old.
    case stale(by: Duration, StaleReason)
    /// What is kept has to be validated; `nil` where it is not too old.
    case validating(staleBy: Duration?)
    /// What was given stale is fetched anew, while nobody waits.
    case revalidating
    /// What is kept can be validated by nothing: it is so much too old, and is asked for anew.
    case expired(staleBy: Duration?)
    /// The origin said that what is kept is good. So many answers were updated.
    case notModified(updated: Int)
    /// The origin said "not modified" of what is not kept; it was asked again without conditions.
    case unmatchedNotModified
    /// Nothing is kept that could serve the request.
    case miss
    /// What is kept was not looked at, as the call or the request wants it.
    case bypassed
    /// Nothing may be sent, and nothing is kept that could be given.
    case onlyIfCachedMiss
    /// The answer is kept, fresh for so long from its making on.
    case stored(lifetime: Duration, isHeuristic: Bool)
    /// The answer is not kept.
    case notStored(NotStoredReason)
    /// A HEAD told that what is kept of so many answers is good, and that so many others have to be validated.
    case head(updated: Int, distrusted: Int)
    /// So many answers of the target, and of those that the answer points to, are let go.
    case invalidated(Int)

    package static var step: FlightStep { .stage(.reading) }

    package var entry: DecisionEntry {
        switch self {
        case .fresh(let age, let remaining):
            .init(
                "hit", ["age": age, "remaining": remaining],
                "\(age.wholeSeconds) old, fresh for another \(remaining.wholeSeconds)")
        case .stale(let staleBy, let reason):
            .init(
                "stale", ["staleBy": staleBy, "reason": reason],
                "stale by \(staleBy.wholeSeconds), used because \(reason.sentence)")
        case .validating(let staleBy): .init("validating", ["staleBy": staleBy], "\(Self.state(staleBy)), revalidating")
        case .revalidating: .init("revalidating", "stale, revalidating")
        case .expired(let staleBy): .init("expired", ["staleBy": staleBy], "\(Self.state(staleBy)), fetching")
        case .notModified(let updated): .init("notModified", ["updated": updated], "not modified, \(updated) updated")
        case .unmatchedNotModified:
            .init(
                "unmatchedNotModified", "the 304 matches no stored response; sent again without conditions")
        case .miss: .init("miss", "nothing cached")
        case .bypassed: .init("bypassed", "the cache is bypassed, as the call asks for")
        case .onlyIfCachedMiss: .init("onlyIfCachedMiss", "nothing usable is cached, and nothing may be sent")
        case .stored(let lifetime, let isHeuristic):
            .init(
                "stored", ["lifetime": lifetime, "isHeuristic": isHeuristic],
                "stored, fresh for \(lifetime.wholeSeconds)\(isHeuristic ? " by estimate" : "")")
        case .notStored(let reason): .init("notStored", ["reason": reason], "not stored: \(reason.text)")
        case .head(let updated, let distrusted):
            .init(
                "freshenedByHead", ["updated": updated, "distrusted": distrusted],
                "HEAD: \(updated) updated, \(distrusted) to be validated")
        case .invalidated(let count): .init("invalidated", ["count": count], "\(count) invalidated")
        }
    }

    private static func state(_ staleBy: Duration?) -> String {
        staleBy.map { "stale by \($0.wholeSeconds)" } ?? "to be validated"
    }
}

extension StaleReason {
    fileprivate var sentence: String { rawValue }
}

extension Duration {
    fileprivate var wholeSeconds: String { "\(components.seconds) s" }
}
