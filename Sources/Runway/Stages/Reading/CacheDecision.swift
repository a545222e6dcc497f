/// A decision of the reading stage that the record shows.
package enum CacheDecision: StageDecision, Equatable {
    case hit(age: Duration)
    case hitOnDisk(age: Duration)
    /// The call could not use any stored response.
    case miss
    case refreshing
    /// The stored response is too old for the call, so the request is sent.
    case expired(by: Duration)
    /// The stored response is too old for the call, so it is revalidated with the server.
    case validating(staleBy: Duration)
    /// The server responded with 304, so the stored response is fresh again and is delivered.
    case notModified
    /// The 304 response does not match the stored response, so the request is sent again without preconditions.
    case unmatchedNotModified
    /// A stale response is delivered while a fresh one is fetched.
    case revalidating(staleBy: Duration)
    /// A stale response is delivered because the call forbids sending a request.
    case staleAllowed(by: Duration)
    /// A stale response is delivered instead of an error.
    case staleIfError(staleBy: Duration)
    /// The fresh response equals the stale response that was delivered before it.
    case unchanged
    case stored(byteCount: Int)
    /// The response was not stored, because a newer one is stored, or because responses of its kind were cleared in the
    /// meantime.
    case outdated
    /// The response was not stored, because it is larger than the cache.
    case tooLarge(byteCount: Int)
    /// The endpoint's check or a validator rejected the stored response, so it was removed.
    case refused
    /// The change invalidated this number of responses in memory. If `isCertain` is false, the change failed but may
    /// have taken effect.
    case invalidated(count: Int, isCertain: Bool)
    /// The disk tier failed with this error.
    case tierFailed(String)
    /// The disk tier did not respond in time.
    case tierTimedOut
    /// This call revalidates a stale response that an earlier call received.
    case revalidatingFor(FlightID)
    /// This call is a prefetch, so no response is delivered.
    case prefetching
    /// No revalidation was started, because one is already in flight or there are too many.
    case revalidationSkipped

    package static var step: FlightStep { .reading }

    package var entry: DecisionRecord {
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
                "notStored", ["reason": "too large", "byteCount": byteCount],
                "not stored: \(byteCount) bytes are too many")
        case .refused: .init("evicted", ["reason": "refused"], "the cached response was refused, and evicted")
        case .invalidated(let count, let isCertain):
            .init(
                "invalidated", ["count": count],
                "\(count) cached \(count == 1 ? "response" : "responses") invalidated"
                    + (isCertain ? "" : ": the change may have taken effect"))
        case .tierFailed(let detail): .init("tierFailed", ["detail": detail], "the disk tier failed: \(detail)")
        case .tierTimedOut: .init("tierTimedOut", "the disk tier was too slow")
        case .revalidatingFor(let flight): .init("revalidatingFor", ["flight": flight], "revalidating for \(flight)")
        case .prefetching: .init("prefetching", "prefetching")
        case .revalidationSkipped:
            .init("revalidationSkipped", "not revalidated: one revalidation is in flight already, or too many are")
        }
    }
}
