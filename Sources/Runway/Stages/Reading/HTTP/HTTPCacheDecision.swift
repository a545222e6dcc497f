/// A decision of the cache by the rules of HTTP, for the call's record.
package enum HTTPCacheDecision: StageDecision, Equatable {
    /// A stored response was returned. It is still fresh for `remaining`.
    case fresh(age: Duration, remaining: Duration)
    /// A stored response was returned although it has been stale for this long.
    case stale(by: Duration, StaleReason)
    /// A stored response must be validated. `staleBy` is the time for which it has been stale; `nil` if it is fresh.
    case validating(staleBy: Duration?)
    /// A stale response was returned, and is revalidated in the background.
    case revalidating
    /// The stored response can't be used and has no validator, so a new response is fetched. `staleBy` is the time for
    /// which it has been stale; `nil` if it is fresh.
    case expired(staleBy: Duration?)
    /// The origin confirmed stored responses. `updated` is the number of responses that were updated.
    case notModified(updated: Int)
    /// The origin responded with 304 to validators that belong to no stored response. The request was sent again
    /// without preconditions.
    case unmatchedNotModified
    /// No stored response matches the request.
    case miss
    /// The cache was bypassed because the call or the request requires it.
    case bypassed
    /// The call forbids sending a request, and no stored response can be returned.
    case onlyIfCachedMiss
    /// The response was stored, with this freshness lifetime.
    case stored(lifetime: Duration, isHeuristic: Bool)
    case notStored(NotStoredReason)
    /// A HEAD response confirmed `updated` stored responses. `distrusted` others must be validated.
    case head(updated: Int, distrusted: Int)
    /// This number of stored responses were removed: responses of the target, and of targets that the new response
    /// refers to.
    case invalidated(Int)

    package static var step: FlightStep { .reading }

    package var entry: DecisionRecord {
        switch self {
        case .fresh(let age, let remaining):
            .init(
                "hit", ["age": age, "remaining": remaining],
                "\(age.wholeSeconds) old, fresh for another \(remaining.wholeSeconds)")
        case .stale(let staleBy, let reason):
            .init(
                "stale", ["staleBy": staleBy, "reason": reason.name],
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
        case .notStored(let reason): .init("notStored", ["reason": reason.name], "not stored: \(reason.text)")
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
    /// The name of the reason in the record. It does not change between releases.
    fileprivate var name: String {
        switch self {
        case .requestAllows: "allowed by the request"
        case .whileRevalidating: "while revalidating"
        case .responseAllows: "allowed by the response"
        case .afterError: "after an error"
        case .disconnected: "disconnected"
        }
    }

    fileprivate var sentence: String { rawValue }
}

extension NotStoredReason {
    /// The name of the reason in the record. It does not change between releases.
    fileprivate var name: String {
        switch self {
        case .method: "method"
        case .status: "status"
        case .noStore: "no-store"
        case .notCacheable: "not cacheable"
        case .varies: "varies"
        case .notFine: "not fine"
        case .partial: "partial"
        case .tooLarge: "too large"
        case .outdated: "outdated"
        }
    }
}

extension Duration {
    fileprivate var wholeSeconds: String { "\(components.seconds) s" }
}
