import Synchronization

/// The state of the reading stage for one call, stored in the call's flight.
struct FlightReading: ~Copyable, Sendable {
    /// The last sequence number that was assigned before the call started.
    let start: UInt64
    /// The number of the shared read that this call leads by sending its request; 0 if it leads none.
    fileprivate let ledRead = Atomic<UInt64>(0)
    /// The number of the shared read whose retained outcome must be released when the call ends; 0 if there is none.
    fileprivate let awaited = Atomic<UInt64>(0)
    /// Whether the call invalidates responses if it takes effect.
    fileprivate let isChange = Atomic(false)
    /// Whether the request of a call that changes data is in flight.
    fileprivate let changing = Atomic(false)
    /// Guards the responses that the call received from the cache and the responses that it will store there.
    fileprivate let state = Mutex(State())

    init(start: UInt64) { self.start = start }

    // The type is not private, because the compiler produces an invalid module for a private type stored in a
    // noncopyable one.
    struct State {
        /// The cache key of the call; `nil` if it could not be computed before the request was created.
        var key: CacheKey?
        /// The result of the lookup that was made before the request was created. It is used when the request arrives
        /// in the reading stage.
        var lookup: Lookup?
        /// The stored response that the call received.
        var cached: TimeToLiveResponse?
        /// The target of the stored response that the call received.
        var cachedTarget: HTTPCacheURI?
        /// Whether the endpoint or a validator rejected the stored response.
        var isCachedRejected = false
        /// The stale response that this call revalidates.
        var revalidated: TimeToLiveResponse?
        /// Whether the call only revalidates a stale response of another call.
        var isRevalidation = false
        /// The invalidations to perform if the call takes effect.
        var invalidations: [CacheInvalidation] = []
        /// The response to store after the endpoint and the validator have accepted it.
        var proposal: Proposal?
        /// The response that the call receives if no fresh one is available.
        var fallback: Fallback?
        /// Whether no stale response may be delivered before the fresh one, because one was already delivered or nobody
        /// would see it.
        var forgoesProvisional = false
        /// Delivers a stale response while the request is in flight; `nil` if the call can deliver only one response.
        var landProvisionally: (@Sendable (Response, Flight) -> Void)?
    }

    /// The result of a lookup that found no response to return.
    enum Lookup: Sendable {
        /// A lookup by the key of a call. It found this stale response; `nil` if it found none.
        case call(CacheKey, TimeToLiveResponse?, changes: UInt64)
        /// A lookup by the rules of HTTP caching. The case is indirect because the value is large, and very few calls
        /// have one.
        indirect case http(HTTPReading.Lookup)
    }

    struct Proposal {
        var response: TimeToLiveResponse
        var tiers: CacheTiers
        /// Whether the response is the stored response that the call received, after the server has validated it.
        var isRenewed = false
    }

    /// A stale response, with the policy that states how long it may replace a fresh one. The enum is indirect because
    /// the value is large, and few calls have one.
    indirect enum Fallback {
        /// - Parameter since: The time at which the response became stale, on the layer's clock.
        case stale(TimeToLiveResponse, since: Duration, CachePolicy)
    }
}

// The changes that the call makes.
extension FlightReading {
    /// The invalidations to perform if the call takes effect.
    var invalidations: [CacheInvalidation] { state.withLock { $0.invalidations } }

    func setInvalidations(_ invalidations: [CacheInvalidation]) {
        state.withLock { $0.invalidations = invalidations }
        isChange.store(true, ordering: .releasing)
    }

    /// Whether the call invalidates responses if it takes effect.
    var invalidates: Bool { isChange.load(ordering: .acquiring) }
    /// Whether the request of a call that changes data is in flight.
    var isChanging: Bool { changing.load(ordering: .acquiring) }
    func beginChange() { changing.store(true, ordering: .releasing) }
    func endChange() { changing.store(false, ordering: .releasing) }
}

// The responses that the call received from the cache.
extension Flight {
    /// The cache key of the call; `nil` if it could not be computed before the request was created.
    var key: CacheKey? { reading.state.withLock { $0.key } }

    func setKey(_ key: CacheKey) { reading.state.withLock { $0.key = key } }

    /// Remembers a lookup, so that it is not repeated when the request is sent.
    func setLookup(_ lookup: FlightReading.Lookup) { reading.state.withLock { $0.lookup = lookup } }

    /// Returns and removes the lookup that was made before the request was created; `nil` if there is none.
    func takeLookup() -> FlightReading.Lookup? { reading.state.withLock { $0.lookup.take() } }

    /// The stored response that the call received.
    var cachedResponse: TimeToLiveResponse? { reading.state.withLock { $0.cached } }

    /// Remembers the stored response that the call receives, so that the response can be removed if it is rejected.
    ///
    /// - Parameter use: Counted in the report unless it is `nil` or the call only revalidates.
    func receive(_ cached: TimeToLiveResponse, counting use: CacheUsage.Use?) {
        let isRevalidation = reading.state.withLock { state in
            state.cached = cached
            return state.isRevalidation
        }
        if let use, !isRevalidation { context.cache.usage.count(use, of: endpoint) }
    }

    /// Remembers the target whose stored response the call receives under HTTP caching, so that the response can be
    /// removed if it is rejected.
    func receive(_ target: HTTPCacheURI) { reading.state.withLock { $0.cachedTarget = target } }

    /// Removes the stored response that the call received, if the rejected response came from the cache. Returns
    /// whether a response was removed.
    func rejectCached(_ source: ResponseSource) -> Bool {
        if source == .network { return false }
        let (cached, target) = reading.state.withLock { state in
            defer { (state.cached, state.cachedTarget) = (nil, nil) }
            state.isCachedRejected = true
            if state.proposal?.isRenewed ?? false { state.proposal = nil }
            return (state.cached, state.cachedTarget)
        }
        if cached == nil, target == nil { return false }
        note(CacheDecision.refused)
        if let cached { context.cache.remove(cached) }
        if let target { context.cache.reject(target) }
        return true
    }

    /// Marks the call as one that revalidates a stale response.
    func setRevalidated(_ stale: TimeToLiveResponse?) {
        reading.state.withLock { ($0.revalidated, $0.isRevalidation) = (stale, true) }
    }

    /// Counts in the report how the call used the cache. A call that only revalidates is not counted.
    func count(_ use: CacheUsage.Use) {
        if reading.state.withLock({ $0.isRevalidation }) { return }
        context.cache.usage.count(use, of: endpoint)
    }

    /// Returns the stale response that this call revalidates, or `nil` if it was rejected in the meantime.
    func revalidatedResponse(of key: CacheKey) -> TimeToLiveResponse? {
        reading.state.withLock { state in
            guard let response = state.revalidated, response.key == key, !state.isCachedRejected else { return nil }
            return response
        }
    }
}

// The response that the call will store.
extension Flight {
    /// Proposes a response that is stored after the endpoint and the manager's validator have accepted it.
    func propose(_ proposal: FlightReading.Proposal) { reading.state.withLock { $0.proposal = proposal } }

    /// Stores the proposed response. Called after the endpoint and the validator have accepted it.
    func storeProposal() {
        let proposal = reading.state.withLock { state in
            defer { state.proposal = nil }
            return state.proposal
        }
        guard let proposal else { return }
        switch context.cache.store(proposal.response, from: reading.start, in: proposal.tiers) {
        case .stored: note(CacheDecision.stored(byteCount: proposal.response.byteCount))
        case .outdated: note(CacheDecision.outdated)
        case .tooLarge: note(CacheDecision.tooLarge(byteCount: proposal.response.byteCount))
        }
    }
}

// The stale responses that the call may receive.
extension Flight {
    func setFallback(_ fallback: FlightReading.Fallback) { reading.state.withLock { $0.fallback = fallback } }

    /// Returns the stale response that the call may receive instead of an error, or `nil` if there is none.
    func fallbackResponse() -> Response? {
        guard !isEndedEarly, case .stale(let response, let since, let policy) = reading.state.withLock({ $0.fallback })
        else { return nil }
        let excess = clock.now - since
        guard policy.allowsOnError(staleBy: excess) else { return nil }
        note(CacheDecision.staleIfError(staleBy: excess))
        return response.response(from: .staleCache)
    }

    var mayLandProvisionally: Bool { reading.state.withLock { !$0.forgoesProvisional } }

    /// Prevents the delivery of a stale response before the fresh one.
    func forgoProvisional() { reading.state.withLock { $0.forgoesProvisional = true } }

    /// Sets the function that delivers a stale response while the request is in flight. The function is used if the
    /// stale response is found only after the caller has continued.
    func setProvisionalLanding(_ land: @escaping @Sendable (Response, Flight) -> Void) {
        reading.state.withLock { $0.landProvisionally = land }
    }

    /// Delivers a stale response before the fresh one, at most once. Returns `false` if the call can deliver only one
    /// response.
    func landProvisionally(_ response: Response) -> Bool {
        let land = reading.state.withLock { state in
            if state.landProvisionally != nil { state.forgoesProvisional = true }
            return state.landProvisionally
        }
        land?(response, self)
        return land != nil
    }
}

// The read requests that the call shares with other calls.
extension Flight {
    /// The flights of the calls that wait for the shared read of this call; `nil` if this call leads no read.
    var waitingFlights: [Flight]? {
        let read = reading.ledRead.load(ordering: .acquiring)
        return read == 0 ? nil : context.cache.reads.flights(waitingFor: read)
    }

    /// Whether this call leads a shared read: it sends the request for all calls that share it.
    var isLeading: Bool { reading.ledRead.load(ordering: .acquiring) != 0 }

    /// Makes this call the leader of a shared read. Its record is held back until the read ends, so that it contains
    /// all requests of the read.
    func beginLeading(_ read: UInt64) {
        recorder.hold()
        reading.ledRead.store(read, ordering: .releasing)
    }

    /// Records that the shared read has ended, or that no call waits for it any more.
    func endLeading() {
        reading.ledRead.store(0, ordering: .releasing)
        releaseRecord()
    }

    /// Makes this call wait for a shared read. The read's outcome is retained until all calls that wait for it have
    /// ended.
    func awaitRead(_ read: UInt64) {
        let former = reading.awaited.exchange(read, ordering: .acquiringAndReleasing)
        if former != 0 { context.cache.reads.release(former) }
    }

    /// Releases the retained outcome of the shared read that the call waited for.
    func releaseRead() {
        let read = reading.awaited.load(ordering: .acquiring)
        if read != 0 { context.cache.reads.release(read) }
    }
}
