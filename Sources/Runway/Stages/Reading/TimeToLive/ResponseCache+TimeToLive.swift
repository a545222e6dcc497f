import Synchronization

/// Responses stored under the key of a call, by a time to live or until evicted.
extension ResponseCache {
    /// Returns the response stored in memory, and the change count of the cache. The response becomes the most recently
    /// used. With the count the call later checks whether the response has changed.
    func lookUp(_ key: CacheKey) -> (response: TimeToLiveResponse?, changes: UInt64) {
        state.withLock { ($0.entries.value(for: key), $0.entries.changeCount) }
    }

    /// The outcome of storing a response.
    enum Storing: Equatable {
        case stored
        /// A newer response is stored, or the response's scope was cleared after its call started.
        case outdated
        /// The response is larger than the limit of the whole memory cache.
        case tooLarge
    }

    /// Stores a response in the given tiers.
    ///
    /// - Parameter start: The value of ``lastSequenceNumber`` when the call started.
    func store(_ response: TimeToLiveResponse, from start: UInt64, in tiers: CacheTiers) -> Storing {
        let key = response.key
        let isOnDisk = tiers.contains(.disk) && tier != nil && key.isPersistable
        let (storing, replaced) = state.withLock { state -> (Storing, TimeToLiveResponse?) in
            let former = state.entries.peek(key)
            guard state.generations.allows(key, response.sequenceNumber, from: start),
                former?.sequenceNumber ?? 0 <= response.sequenceNumber
            else { return (.outdated, nil) }
            // Memory may evict this response before an older, slower request has received its response. That response
            // must be refused even then.
            state.generations.replace(key, by: response.sequenceNumber)
            if tiers.contains(.memory) {
                state.entries.insert(response, for: key, of: key.kind, byteCount: response.byteCount)
            } else {
                state.entries.remove(key)
            }
            let isInMemory = state.entries.peek(key) === response
            if isOnDisk { state.writeBehind.add(.store(.call(response))) }
            // A shared response is stored by each of the calls that share it.
            let replaced = former.flatMap { $0.sequenceNumber < response.sequenceNumber ? $0 : nil }
            return (isInMemory || isOnDisk ? .stored : .tooLarge, replaced)
        }
        if let replaced {
            usage.count(
                at: response.fetched - replaced.fetched, isChanged: replaced.rawData.bytes != response.rawData.bytes,
                of: key.endpointType)
        }
        if isOnDisk { startWriteBehind() }
        return storing
    }

    /// Stores a response from disk in memory. Does nothing if memory contains a newer response, or if the response was
    /// cleared since the call started.
    func promote(_ response: TimeToLiveResponse, from start: UInt64) {
        state.withLock { state in
            guard state.generations.allows(response.key, start, from: start),
                state.entries.peek(response.key).map({ $0.fetched <= response.fetched }) ?? true
            else { return }
            state.entries.insert(
                response, for: response.key, of: response.key.kind, byteCount: response.byteCount)
        }
    }

    /// Removes a rejected response, unless another has replaced it.
    func remove(_ rejected: TimeToLiveResponse) {
        state.withLock { state in
            if state.entries.peek(rejected.key).map({ $0.sequenceNumber > rejected.sequenceNumber }) ?? false { return }
            state.entries.remove(rejected.key)
            if tier != nil, rejected.key.isPersistable { state.writeBehind.add(.remove(.call(rejected.key))) }
        }
        startWriteBehind()
    }
}
