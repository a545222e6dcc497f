import HTTPTypes

import struct Foundation.Date

/// Reads under ``CachePolicy/timeToLive(_:onDisk:staleWhileRevalidate:staleIfError:)`` and
/// ``CachePolicy/untilEvicted(inMemory:onDisk:)``.
struct TimeToLiveReading {
    let cache: ResponseCache
    let policy: CachePolicy

    init(_ cache: ResponseCache, _ policy: CachePolicy) {
        self.cache = cache
        self.policy = policy
    }

    /// - Parameter key: The key of the response; `nil` if the response is never stored.
    func respondImmediately(_ key: CacheKey?, in flight: Flight) throws(NetworkError) -> ImmediateResponse {
        let use = flight.options.cacheUse
        let usesDisk = policy.tiers.contains(.disk) && cache.tier != nil && key?.isPersistable ?? true
        guard use != .refresh, let key else {
            if use == .onlyIfCached { throw .notCached }
            return .pass
        }
        guard policy.tiers.contains(.memory) else {
            if !usesDisk, use == .onlyIfCached { throw .notCached }
            return usesDisk ? .wait : .pass
        }
        let (found, changes) = cache.lookUp(key)
        // If a request is sent, the request uses this result instead of a second lookup.
        func rememberLookup() { flight.setLookup(.call(key, found, changes: changes)) }
        guard let cached = found else {
            if !usesDisk, use == .onlyIfCached { throw .notCached }
            rememberLookup()
            return usesDisk ? .wait : .pass
        }
        let now = flight.clock.now
        switch policy.freshness(of: cached, at: now) {
        case .fresh(let age):
            flight.note(CacheDecision.hit(age: age), at: now)
            return .response(cached.received(by: flight, as: .cache, counting: .fresh(age: age)))
        case .stale where usesDisk:
            rememberLookup()
            return .wait
        case .stale(let excess) where use == .onlyIfCached:
            flight.note(CacheDecision.staleAllowed(by: excess))
            return .response(
                cached.received(by: flight, as: .staleCache, counting: .stale(age: cached.age(at: now))))
        case .stale(let excess):
            guard policy.allowsWhileRevalidating(staleBy: excess), flight.mayLandProvisionally else {
                rememberLookup()
                return .pass
            }
            flight.note(CacheDecision.revalidating(staleBy: excess))
            flight.forgoProvisional()
            return .provisional(
                cached.received(by: flight, as: .staleCache, counting: .stale(age: cached.age(at: now))))
        }
    }

    func respond(to request: Request, _ reads: SharedReads) async throws(NetworkError) -> Response {
        let flight = reads.flight
        let use = flight.options.cacheUse
        guard let key = CacheKey(request, in: flight) else {
            if use == .onlyIfCached { throw .notCached }
            return try request.accepting(await reads.send(request))
        }
        if use == .refresh {
            flight.note(CacheDecision.refreshing)
            flight.count(.bypassed)
            let validation = flight.revalidatedResponse(of: key)?.validation(of: request)
            return try await fetchUnconditionally(Fetch(request: request, key: key, validation: validation), reads)
        }
        // The loop repeats the lookup only if another call has stored a response under the key in the meantime.
        while true {
            if let response = try await look(for: key, request, reads) { return response }
        }
    }

    /// Returns the response stored in memory. If the call has already looked it up, that result is used.
    private func lookUp(_ key: CacheKey, in flight: Flight) -> (response: TimeToLiveResponse?, changes: UInt64) {
        if case .call(key, let response, let changes) = flight.takeLookup() { return (response, changes) }
        return cache.lookUp(key)
    }

    /// Responds from the cache, or fetches. Returns `nil` if the stored response has changed since it was looked up.
    private func look(
        for key: CacheKey, _ request: Request, _ reads: SharedReads
    ) async throws(NetworkError) -> Response? {
        let flight = reads.flight
        let use = flight.options.cacheUse
        var fetch = Fetch(request: request, key: key)
        var inMemory: TimeToLiveResponse?
        if policy.tiers.contains(.memory) {
            let (response, changes) = lookUp(key, in: flight)
            inMemory = response
            fetch.lookup.snapshot = .entry(key, response, changes: changes)
        }
        guard let (cached, freshness, isOnDisk) = await find(key, inMemory, in: flight) else {
            if use == .onlyIfCached { throw .notCached }
            fetch.lookup.decision = CacheDecision.miss
            fetch.lookup.use = .absent
            return try await self.fetch(fetch, reads)
        }
        switch freshness {
        case .fresh(let age):
            flight.note(isOnDisk ? CacheDecision.hitOnDisk(age: age) : .hit(age: age))
            return cached.received(by: flight, as: .cache, counting: .fresh(age: age))
        case .stale(let excess) where use == .onlyIfCached:
            flight.note(CacheDecision.staleAllowed(by: excess))
            let age = cached.age(at: flight.clock.now)
            return cached.received(by: flight, as: .staleCache, counting: .stale(age: age))
        case .stale(let excess):
            flight.setFallback(.stale(cached, since: flight.clock.now - excess, policy))
            fetch.validation = cached.validation(of: request)
            if policy.allowsWhileRevalidating(staleBy: excess), flight.mayLandProvisionally {
                flight.note(CacheDecision.revalidating(staleBy: excess))
                let age = cached.age(at: flight.clock.now)
                var provisional = cached.received(by: flight, as: .staleCache, counting: .stale(age: age))
                provisional.isProvisional = true
                if !flight.landProvisionally(provisional) { return provisional }
            } else if flight.mayLandProvisionally {
                fetch.lookup.decision =
                    fetch.validation == nil
                    ? CacheDecision.expired(by: excess) : CacheDecision.validating(staleBy: excess)
                fetch.lookup.use = .expired(age: cached.age(at: flight.clock.now))
            }
            return try await self.fetch(fetch, reads)
        }
    }
}

extension TimeToLiveReading {
    /// A request to send because no stored response can be used.
    struct Fetch {
        let request: Request
        let key: CacheKey
        /// The stale response to validate, with the conditional request; `nil` if nothing is validated.
        var validation: TimeToLiveResponse.Validation?
        var lookup = SharedReads.Lookup()
    }

    /// Sends a request that depends on no lookup; see ``fetch(_:_:)``.
    private func fetchUnconditionally(_ fetch: Fetch, _ reads: SharedReads) async throws(NetworkError) -> Response {
        guard let response = try await self.fetch(fetch, reads) else {
            preconditionFailure("a request without a lookup does not depend on the cache")
        }
        return response
    }

    /// Sends the request with the validators of the stale response. If the request fails and the policy allows it,
    /// returns the stale response.
    ///
    /// - Returns: `nil` if the stored response has changed since it was looked up.
    func fetch(_ fetch: Fetch, _ reads: SharedReads) async throws(NetworkError) -> Response? {
        let flight = reads.flight
        // This number is for a response that no transport fetched, such as an item of a merged response.
        let ownNumber = cache.nextSequenceNumber()
        do throws(NetworkError) {
            let sent = fetch.validation?.request ?? fetch.request
            guard let (received, _) = try await reads.send(sent, after: fetch.lookup) else { return nil }
            let response = try sent.accepting(received)
            let sequenceNumber = response.attempt?.sequenceNumber ?? ownNumber
            if let error = response.refusal {
                return error.allowsStaleResponse ? flight.fallbackResponse() ?? response : response
            }
            guard response.head.status == .notModified, let stored = fetch.validation?.stored else {
                propose(response, fetch.key, sequenceNumber, in: flight)
                return response
            }
            if response.hops.isEmpty, flight.hasSameSender(as: response),
                stored.matches(notModified: response.head.headerFields)
            {
                return renew(stored, by: response, sequenceNumber, in: flight)
            }
            flight.note(CacheDecision.unmatchedNotModified)
            return try await fetchUnconditionally(Fetch(request: fetch.request, key: fetch.key), reads)
        } catch {
            guard error.allowsStaleResponse, let fallback = flight.fallbackResponse() else { throw error }
            return fallback
        }
    }

    /// Returns the stored response that a 304 validated. Proposes to store it again with a new time of receipt.
    private func renew(
        _ stored: TimeToLiveResponse, by response: Response, _ sequenceNumber: UInt64, in flight: Flight
    ) -> Response {
        flight.note(CacheDecision.notModified)
        let renewed = stored.renewed(
            by: response.head, sequenceNumber: sequenceNumber, at: flight.clock.now, date: flight.clock.date)
        if !policy.tiers.isEmpty {
            flight.propose(FlightReading.Proposal(response: renewed, tiers: policy.tiers, isRenewed: true))
        }
        var validated = stored.received(by: flight, as: .cache, counting: nil)
        validated.head = renewed.rawData.response
        validated.body = .whole(renewed.rawData)
        return validated
    }

    private func propose(_ response: Response, _ key: CacheKey, _ sequenceNumber: UInt64, in flight: Flight) {
        // A 304 reaches this place only as the response to a precondition of the endpoint. Other calls can't use it.
        guard case .whole(let rawData) = response.body, response.source == .network,
            response.head.status != .notModified, !policy.tiers.isEmpty, flight.hasSameSender(as: response)
        else { return }
        let now = flight.clock.now
        let cached = TimeToLiveResponse(
            rawData.with(response: response.head), for: key, sequenceNumber: sequenceNumber, fetched: now, entered: now,
            date: flight.clock.date, isRedirected: !response.hops.isEmpty)
        flight.propose(FlightReading.Proposal(response: cached, tiers: policy.tiers))
    }
}

extension TimeToLiveReading {
    /// Returns the fresher of the responses in memory and in the disk tier, or `nil` if there is none.
    private func find(
        _ key: CacheKey, _ inMemory: TimeToLiveResponse?, in flight: Flight
    ) async -> (cached: TimeToLiveResponse, freshness: Freshness, isOnDisk: Bool)? {
        let found = inMemory.map { ($0, policy.freshness(of: $0, at: flight.clock.now), false) }
        if case .fresh = found?.1 { return found }
        guard policy.tiers.contains(.disk) else { return found }
        switch await cache.findOnDisk(.call(key), in: flight) {
        case .nothing: return found
        case .failed(let detail): flight.note(CacheDecision.tierFailed(detail))
        case .timedOut: flight.note(CacheDecision.tierTimedOut)
        case .pending(.target): preconditionFailure("a call's key has a call's response")
        case .pending(.call(let pending)):
            return (pending, policy.freshness(onDisk: max(flight.clock.now - pending.fetched, .zero)), true)
        case .found(let entry):
            guard let entry = CallRecord(entry) else {
                flight.note(CacheDecision.tierFailed("its entry is malformed"))
                return found
            }
            let age = entry.date.age(at: flight.clock.date)
            let freshness = policy.freshness(onDisk: age)
            let cached = promote(entry, age: age ?? .zero, key, isFresh: freshness.isFresh, in: flight)
            // The dates are compared, because they are the same in memory and on disk. The age on disk is only a
            // difference of dates.
            if let inMemory, !freshness.isFresh, inMemory.date >= entry.date { return found }
            return (cached, freshness, true)
        }
        return found
    }

    /// Returns the response of an entry on disk. Stores the response in memory if it is fresh and the policy allows
    /// that.
    private func promote(
        _ entry: CallRecord, age: Duration, _ key: CacheKey, isFresh: Bool, in flight: Flight
    ) -> TimeToLiveResponse {
        let now = flight.clock.now
        let cached = TimeToLiveResponse(
            RawData(entry.body, response: entry.head), for: key, sequenceNumber: 0, fetched: now - age, entered: now,
            date: entry.date)
        if isFresh, policy.tiers.contains(.memory) { cache.promote(cached, from: flight.reading.start) }
        return cached
    }
}

extension Freshness {
    fileprivate var isFresh: Bool { if case .fresh = self { true } else { false } }
}

extension TimeToLiveResponse {
    /// Returns the response for a call. If the response is rejected, the stored response is removed.
    fileprivate func received(
        by flight: Flight, as source: ResponseSource, counting use: CacheUsage.Use?
    ) -> Response {
        flight.receive(self, counting: use)
        return response(from: source)
    }
}
