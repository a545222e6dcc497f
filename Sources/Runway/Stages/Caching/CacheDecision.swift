/// What the caching stage decided, for the record.
public enum CacheDecision: FlightDecision, Equatable {
    /// A fresh answer was in memory.
    case hit(age: Duration)
    /// A fresh answer was in the tier below memory.
    case hitBelow(age: Duration)
    /// Nothing is kept that the call may have.
    case miss
    /// The call wanted none of what is kept.
    case refreshing
    /// What is kept is too old for the call.
    case expired(by: Duration)
    /// What is kept is too old for the call, and the server is asked whether it is still good.
    case validating(staleBy: Duration)
    /// The server said that what is kept is still good: it is fresh again, and lands.
    case notModified
    /// The server said "not modified" of something else than what is kept; it is asked again without conditions.
    case unknownNotModified
    /// A stale answer lands, and a fresh one is fetched.
    case revalidating(staleBy: Duration)
    /// A stale answer lands, since the call wanted nothing to be sent.
    case staleByWish(by: Duration)
    /// A stale answer lands in the place of a failure.
    case insteadOfFailing(staleBy: Duration)
    /// The fresh answer is the same as the stale one that landed before it.
    case unchanged
    /// The answer was kept.
    case kept(byteCount: Int)
    /// The answer was not kept: a newer one is there, or what it belongs to was cleared meanwhile.
    case outdated
    /// The answer was not kept: it is larger than the cache.
    case tooLarge(byteCount: Int)
    /// What was kept was refused by the endpoint's check or by a validator, and let go.
    case refused
    /// The tier below memory failed.
    case tierFailed(String)
    /// The tier below memory did not answer in time.
    case tierLate
    /// The call fetches anew what an earlier one landed stale.
    case onBehalf(of: FlightID)
    /// The call fetches ahead; nothing lands.
    case fetchingAhead
    /// Nothing flies to fetch anew: one does already, or too many do.
    case leftToOthers

    /// The stage.
    public static var step: FlightStep { .stage(.caching) }

    /// What the stage decided, as a log shows it.
    public var description: String {
        switch self {
        case .hit(let age): "fresh in memory, \(age.text) old"
        case .hitBelow(let age): "fresh below memory, \(age.text) old"
        case .miss: "nothing kept"
        case .refreshing: "not looked for, as the call wished"
        case .expired(let excess): "stale by \(excess.text), fetching"
        case .validating(let excess): "stale by \(excess.text), asking whether it is still good"
        case .notModified: "not modified: what is kept is fresh again"
        case .unknownNotModified: "not modified, but not what is kept; asking again without conditions"
        case .revalidating(let excess): "stale by \(excess.text), revalidating"
        case .staleByWish(let excess): "stale by \(excess.text), as the call wished"
        case .insteadOfFailing(let excess): "stale by \(excess.text), instead of failing"
        case .unchanged: "the fresh answer is the one that landed"
        case .kept(let byteCount): "kept, \(byteCount) bytes"
        case .outdated: "not kept: a newer one is there, or it was cleared"
        case .tooLarge(let byteCount): "not kept: \(byteCount) bytes are too many"
        case .refused: "what was kept was refused, and let go"
        case .tierFailed(let detail): "the tier below memory failed: \(detail)"
        case .tierLate: "the tier below memory was too slow"
        case .onBehalf(let flight): "fetching anew for \(flight)"
        case .fetchingAhead: "fetching ahead"
        case .leftToOthers: "fetching anew is left to others"
        }
    }
}
