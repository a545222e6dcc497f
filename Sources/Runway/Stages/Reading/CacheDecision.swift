/// What the caching stage decided, for the record.
package enum CacheDecision: StageDecision, Equatable {
    /// A fresh answer was in memory.
    case hit(age: Duration)
    /// A fresh answer was in the tier below memory.
    case hitOnDisk(age: Duration)
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
    case unmatchedNotModified
    /// A stale answer lands, and a fresh one is fetched.
    case revalidating(staleBy: Duration)
    /// A stale answer lands, since the call wanted nothing to be sent.
    case staleAllowed(by: Duration)
    /// A stale answer lands in the place of a failure.
    case staleIfError(staleBy: Duration)
    /// The fresh answer is the same as the stale one that landed before it.
    case unchanged
    /// The answer was kept.
    case stored(byteCount: Int)
    /// The answer was not kept: a newer one is there, or what it belongs to was cleared meanwhile.
    case outdated
    /// The answer was not kept: it is larger than the cache.
    case tooLarge(byteCount: Int)
    /// What was kept was refused by the endpoint's check or by a validator, and let go.
    case refused
    /// The tier below memory failed.
    case tierFailed(String)
    /// The tier below memory did not answer in time.
    case tierTimedOut
    /// The call fetches anew what an earlier one landed stale.
    case revalidatingFor(FlightID)
    /// The call fetches ahead; nothing lands.
    case prefetching
    /// Nothing flies to fetch anew: one does already, or too many do.
    case revalidationSkipped

    package static var step: FlightStep { .stage(.reading) }

    package var entry: DecisionEntry {
        switch self {
        case .hit(let age): .init("hit", ["tier": "memory", "age": age], "fresh in memory, \(age.text) old")
        case .hitOnDisk(let age): .init("hit", ["tier": "disk", "age": age], "fresh on disk, \(age.text) old")
        case .miss: .init("miss", "nothing cached")
        case .refreshing: .init("bypassed", "the cache is bypassed, as the call asks for")
        case .expired(let excess): .init("expired", ["staleBy": excess], "stale by \(excess.text), fetching")
        case .validating(let excess):
            .init("validating", ["staleBy": excess], "stale by \(excess.text), validating")
        case .notModified: .init("notModified", "not modified: the cached response is fresh again")
        case .unmatchedNotModified:
            .init("unmatchedNotModified", "the 304 does not match the cached response; sent again without conditions")
        case .revalidating(let excess):
            .init("revalidating", ["staleBy": excess], "stale by \(excess.text), revalidating")
        case .staleAllowed(let excess):
            .init("staleAllowed", ["staleBy": excess], "stale by \(excess.text), as the call allows")
        case .staleIfError(let excess):
            .init("staleIfError", ["staleBy": excess], "stale by \(excess.text), instead of failing")
        case .unchanged: .init("unchanged", "the fresh response equals the stale one that landed")
        case .stored(let byteCount): .init("stored", ["byteCount": byteCount], "stored, \(byteCount) bytes")
        case .outdated:
            .init(
                "notStored", ["reason": "outdated"], "not stored: a newer response is stored, or the cache was cleared")
        case .tooLarge(let byteCount):
            .init(
                "notStored", ["reason": "tooLarge", "byteCount": byteCount],
                "not stored: \(byteCount) bytes are too many")
        case .refused: .init("evicted", ["reason": "refused"], "the cached response was refused, and evicted")
        case .tierFailed(let detail): .init("tierFailed", ["detail": detail], "the disk tier failed: \(detail)")
        case .tierTimedOut: .init("tierTimedOut", "the disk tier was too slow")
        case .revalidatingFor(let flight): .init("revalidatingFor", ["flight": flight], "revalidating for \(flight)")
        case .prefetching: .init("prefetching", "prefetching")
        case .revalidationSkipped:
            .init("revalidationSkipped", "not revalidated: one revalidation is in flight already, or too many are")
        }
    }
}
