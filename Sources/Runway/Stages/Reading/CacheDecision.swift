/// A decision of the reading stage, for the record.
package enum CacheDecision: StageDecision, Equatable {
    /// A fresh response was in memory.
    case hit(age: Duration)
    /// A fresh response was on disk.
    case hitOnDisk(age: Duration)
    /// No response is stored that the call may use.
    case miss
    /// The call bypasses the cache.
    case refreshing
    /// The stored response is too old for the call.
    case expired(by: Duration)
    /// The stored response is too old for the call, and is validated with the server.
    case validating(staleBy: Duration)
    /// The server responded 304: the stored response is fresh again, and lands.
    case notModified
    /// The 304 does not match the stored response; the request is sent again without conditions.
    case unmatchedNotModified
    /// A stale response lands, and a fresh one is fetched.
    case revalidating(staleBy: Duration)
    /// A stale response lands, since the call allows nothing to be sent.
    case staleAllowed(by: Duration)
    /// A stale response lands instead of an error.
    case staleIfError(staleBy: Duration)
    /// The fresh response equals the stale one that landed before it.
    case unchanged
    /// The response was stored.
    case stored(byteCount: Int)
    /// The response was not stored: a newer one is stored, or its scope was cleared meanwhile.
    case outdated
    /// The response was not stored: it is larger than the cache.
    case tooLarge(byteCount: Int)
    /// The stored response was rejected by the endpoint's check or by a validator, and removed.
    case refused
    /// The change invalidated this number of responses in memory; if it is not certain, it failed and may have taken
    /// effect.
    case invalidated(count: Int, isCertain: Bool)
    /// The tier below memory failed.
    case tierFailed(String)
    /// The disk tier did not respond in time.
    case tierTimedOut
    /// The call revalidates a stale response that an earlier call received.
    case revalidatingFor(FlightID)
    /// The call fetches ahead; nothing lands.
    case prefetching
    /// No revalidation was started: one is in flight already, or too many are.
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
