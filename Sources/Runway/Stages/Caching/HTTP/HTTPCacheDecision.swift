/// What the cache decided by the rules of HTTP, for the record.
public enum HTTPCacheDecision: FlightDecision, Equatable {
    /// What is kept was given; it stays fresh for so long.
    case fresh(age: Duration, remaining: Duration)
    /// What is kept was given although it is so much too old.
    case stale(by: Duration, StaleReason)
    /// What is kept has to be validated; `nil` where it is not too old.
    case validating(staleBy: Duration?)
    /// What was given stale is fetched anew, while nobody waits.
    case revalidating
    /// What is kept can be validated by nothing: it is so much too old, and is asked for anew.
    case refetching(staleBy: Duration?)
    /// The origin said that what is kept is good. So many answers were updated.
    case notModified(updated: Int)
    /// The origin said "not modified" of what is not kept; it was asked again without conditions.
    case unknownNotModified
    /// Nothing is kept that could serve the request.
    case nothingKept
    /// What is kept was not looked at, as the call or the request wants it.
    case bypassed
    /// Nothing may be sent, and nothing is kept that could be given.
    case onlyIfCachedFailed
    /// The answer is kept, fresh for so long from its making on.
    case kept(lifetime: Duration, isHeuristic: Bool)
    /// The answer is not kept.
    case notKept(NotKept)
    /// A HEAD told that what is kept of so many answers is good, and that so many others have to be validated.
    case head(updated: Int, distrusted: Int)
    /// So many answers of the target, and of those that the answer points to, are let go.
    case invalidated(Int)

    /// The stage.
    public static var step: FlightStep { .stage(.caching) }

    /// What the stage decided, as a log shows it.
    public var description: String {
        switch self {
        case .fresh(let age, let remaining): "\(age.wholeSeconds) old, fresh for another \(remaining.wholeSeconds)"
        case .stale(let staleBy, let reason): "stale by \(staleBy.wholeSeconds), given because \(reason.sentence)"
        case .validating(let staleBy): "\(Self.state(staleBy)), revalidating"
        case .revalidating: "given stale, revalidating"
        case .refetching(let staleBy): "\(Self.state(staleBy)), fetching"
        case .notModified(let updated): "not modified, \(updated) updated"
        case .unknownNotModified: "not modified, but nothing that is kept is meant; asking again without conditions"
        case .nothingKept: "nothing kept"
        case .bypassed: "not looked at, as the call wants it"
        case .onlyIfCachedFailed: "nothing kept that could be given, and nothing may be sent"
        case .kept(let lifetime, let isHeuristic):
            "kept, fresh for \(lifetime.wholeSeconds)\(isHeuristic ? " by estimate" : "")"
        case .notKept(let reason): "not kept: \(reason.rawValue)"
        case .head(let updated, let distrusted): "HEAD: \(updated) updated, \(distrusted) to be validated"
        case .invalidated(let count): "\(count) let go"
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
