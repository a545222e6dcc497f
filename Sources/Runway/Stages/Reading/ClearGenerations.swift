/// Decides which responses may be stored after clears, after changes of targets, and after newer responses.
///
/// Requests, calls, clears and changes take their sequence numbers from one counter,
/// ``ResponseCache/nextSequenceNumber()``. A clear refuses the responses of calls that started before it, even if their
/// requests were sent after it. A change of a target, and a newer response, refuse the responses to requests that were
/// sent earlier.
///
/// Memory is limited: if the numbers of an entry have to be forgotten, they are applied to all entries of its kind
/// instead. A response may then be refused unnecessarily, but a response that must be refused is never stored.
struct ClearGenerations {
    /// The maximum number of scopes, of keys and of targets that are remembered individually.
    static let maximumCount = 1024

    /// The minimum sequence numbers that allow a response to be stored.
    fileprivate struct Generation {
        /// The minimum sequence number that the request must have.
        var firstRequest: UInt64 = 0
        /// The minimum sequence number that both the request and the start of its call must have.
        var firstStart: UInt64 = 0

        mutating func merge(_ other: Generation) {
            firstRequest = max(firstRequest, other.firstRequest)
            firstStart = max(firstStart, other.firstStart)
        }
    }

    private var everything: UInt64 = 0
    private var scopes: [CacheScope: UInt64] = [:]
    private var keys = EntryGenerations<CacheKey>(maximumCount: Self.maximumCount)
    private var targets = EntryGenerations<HTTPCacheURI>(maximumCount: Self.maximumCount)

    /// Prevents the storing of responses in a scope if their calls started earlier.
    mutating func clear(_ scope: CacheScope, at sequenceNumber: UInt64) {
        if scope == .everything || scopes.count >= Self.maximumCount && scopes[scope] == nil {
            // This clear covers everything, so the older clears need not be remembered any more.
            self = ClearGenerations()
            everything = sequenceNumber
        } else {
            scopes[scope] = sequenceNumber
        }
    }

    /// Prevents the storing of responses under a key if their calls started earlier.
    mutating func clear(_ key: CacheKey, at sequenceNumber: UInt64) {
        keys.merge(Generation(firstStart: sequenceNumber), for: key)
    }

    /// Prevents the storing of responses of a target if their calls started earlier.
    mutating func clear(_ target: HTTPCacheURI, at sequenceNumber: UInt64) {
        targets.merge(Generation(firstStart: sequenceNumber), for: target)
    }

    /// Prevents the storing of responses of a target if their requests were sent at or before a sequence number.
    mutating func change(_ target: HTTPCacheURI, at sequenceNumber: UInt64) {
        targets.merge(Generation(firstRequest: sequenceNumber + 1), for: target)
    }

    /// Prevents the storing of responses under a key that are older than a stored one, even after the stored one was
    /// evicted.
    mutating func replace(_ key: CacheKey, by sequenceNumber: UInt64) {
        keys.merge(Generation(firstRequest: sequenceNumber), for: key)
    }

    /// Returns whether a response may be stored under a key.
    ///
    /// - Parameters:
    ///   - sequenceNumber: The number of the request that fetched the response.
    ///   - start: The last number that was assigned before its call started.
    func allows(_ key: CacheKey, _ sequenceNumber: UInt64, from start: UInt64) -> Bool {
        // If the request is shared, it may have been sent before this call started.
        let oldest = min(sequenceNumber, start)
        return oldest >= everything && keys.allow(key, sequenceNumber, from: oldest)
            && (scopes.isEmpty || key.scopes.allSatisfy { (scopes[$0] ?? 0) <= oldest })
    }

    /// Returns whether a response of a target may be stored for the user that the partition identifies; see
    /// ``allows(_:_:from:)``.
    func allows(
        _ target: HTTPCacheURI, in partition: CachePartition, _ sequenceNumber: UInt64, from start: UInt64
    ) -> Bool {
        let oldest = min(sequenceNumber, start)
        return oldest >= everything && targets.allow(target, sequenceNumber, from: oldest)
            && scopes.allSatisfy { $0.value <= oldest || !$0.key.covers(partition) }
    }
}

/// The minimum sequence numbers of the most recently changed entries, and a common minimum for all forgotten entries.
private struct EntryGenerations<ID: Hashable> {
    private var forgotten = ClearGenerations.Generation()
    private var known: LeastRecentlyUsed<ID, ClearGenerations.Generation>

    init(maximumCount: Int) { known = LeastRecentlyUsed(maximumCount: maximumCount, maximumByteCount: 0) }

    mutating func merge(_ generation: ClearGenerations.Generation, for id: ID) {
        var merged = generation
        if let own = known.peek(id) {
            merged.merge(own)
        } else if known.count == known.maximumCount, let oldest = known.oldestValue {
            forgotten.merge(oldest)
        }
        known.insert(merged, for: id, byteCount: 0)
    }

    func allow(_ id: ID, _ sequenceNumber: UInt64, from oldest: UInt64) -> Bool {
        var generation = forgotten
        if let own = known.peek(id) { generation.merge(own) }
        return sequenceNumber >= generation.firstRequest && oldest >= generation.firstStart
    }
}
