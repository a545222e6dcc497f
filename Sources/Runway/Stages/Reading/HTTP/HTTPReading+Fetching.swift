import HTTPTypes

extension HTTPReading {
    /// A request that no stored response can serve.
    struct Fetch: Sendable {
        /// The request as it was looked up, without the validators of stored responses.
        let request: Request
        /// The stored responses that the request validates, the preferred one first.
        let candidates: [HTTPStoredResponse]
        var lookup: SharedReads.Lookup

        init(
            _ request: Request, validating candidates: [HTTPStoredResponse] = [], decision: HTTPCacheDecision? = nil,
            use: CacheUsage.Use? = nil
        ) {
            self.request = request
            self.candidates = candidates
            lookup = SharedReads.Lookup(decision: decision, use: use)
        }
    }

    /// The time and sequence number at which a call passed its request on, for a response that has no attempt of a
    /// transport.
    struct RequestStart: Sendable {
        let sequenceNumber: UInt64
        let requested: Duration
    }

    /// Sends the request, with the validators of the candidates, and returns the response that results (RFC 9111
    /// §4.3.3).
    ///
    /// - Returns: `nil` if the target has changed since it was looked up.
    func fetch(_ fetch: Fetch, _ reads: SharedReads) async throws(NetworkError) -> Response? {
        let (request, flight) = (fetch.request, reads.flight)
        let requestStart = RequestStart(sequenceNumber: cache.nextSequenceNumber(), requested: flight.clock.now)
        let sent = request.prepared(validating: fetch.candidates, in: flight)
        let (response, own): (Response, Response?)
        do throws(NetworkError) {
            let result = try await reads.send(sent, after: fetch.lookup) { response in
                response.source == .network ? store(response, to: fetch, requestStart, in: flight) : nil
            }
            guard let result else { return nil }
            (response, own) = result
        } catch {
            let outlook = error.outlook
            guard outlook.isServerUnavailable,
                let stale = staleResponse(fetch, isDisconnected: outlook.obstacle == .connection, in: flight)
            else { throw error }
            return stale
        }
        if response.source != .network { return response }
        if let own { return own }
        // The 304 may refer to the caller's own preconditions; if only the cache set some, the request is sent again without
        // them.
        if sent.callerConditions == nil || request.isMet(by: response.head) { return try request.accepting(response) }
        flight.note(HTTPCacheDecision.unmatchedNotModified)
        return try await self.fetch(Fetch(request), reads)
    }

    /// Stores a response, and returns the response to the call; `nil` for a 304 that matches no candidate.
    private func store(
        _ response: Response, to fetch: Fetch, _ requestStart: RequestStart, in flight: Flight
    ) -> Response? {
        // A response without a verdict fails its call, and neither updates nor replaces a stored one.
        if response.verdict == nil { return response }
        let request = fetch.request
        // The age and order of a shared response are those of its request, whenever a follower joined the request.
        let sequenceNumber = response.attempt?.sequenceNumber ?? requestStart.sequenceNumber
        let times = ExchangeTimes(
            requested: response.attempt?.start ?? requestStart.requested, received: flight.clock.now,
            receivedDate: HTTPDate(flight.clock.date))
        countChange(by: response, of: fetch, in: flight)
        guard response.hops.isEmpty else { return store(response, to: request, times, sequenceNumber, in: flight) }
        switch response.head.status.code {
        // The cookies changed after the cache lookup, so the server compared the validators with another sender's response.
        case 304 where !flight.hasSameSender(as: response): return nil
        case 304: return freshen(fetch, by: response.head, times, sequenceNumber, in: flight)
        // The errors of `stale-if-error` (RFC 5861 §4).
        case 500, 502, 503, 504:
            let stale = staleResponse(fetch, isDisconnected: false, in: flight)
            return stale ?? store(response, to: request, times, sequenceNumber, in: flight)
        default: return store(response, to: request, times, sequenceNumber, in: flight)
        }
    }

    /// Counts for the report whether the response differs from the stored one.
    private func countChange(by response: Response, of fetch: Fetch, in flight: Flight) {
        guard let stored = fetch.candidates.first, case .whole(let former) = stored.content else { return }
        let age = stored.age(at: flight.clock.now)
        switch (response.head.status, response.body) {
        case (.notModified, _): cache.usage.count(at: age, isChanged: false, of: flight.endpoint)
        case (.ok, .whole(let rawData)) where response.hops.isEmpty:
            cache.usage.count(at: age, isChanged: rawData.bytes != former.bytes, of: flight.endpoint)
        default: break
        }
    }

    /// Updates the candidates that a 304 selects, and returns the response to the request; `nil` if it selects none.
    private func freshen(
        _ fetch: Fetch, by head: HTTPResponse, _ times: ExchangeTimes, _ sequenceNumber: UInt64, in flight: Flight
    ) -> Response? {
        let (request, candidates) = (fetch.request, fetch.candidates)
        guard head.headerFields.contains(.eTag) || HTTPValidation.isUnambiguous(request.head.headerFields, candidates)
        else { return nil }
        let updated = ResponseSelection.named(by: head.headerFields, among: candidates).map {
            $0.updated(
                by: head.headerFields, requestFields: request.head.headerFields, times: times,
                sequenceNumber: sequenceNumber)
        }
        guard let best = updated.first else {
            let confirmed = ResponseSelection.confirmed(by: head.headerFields, among: candidates)
            guard let confirmed else { return nil }
            flight.note(HTTPCacheDecision.notModified(updated: 0))
            return response(confirmed, to: request, .fresh(remaining: .zero), in: flight)
        }
        guard var response = best.response(to: request.head, age: nil), request.takes(response) else { return nil }
        flight.note(HTTPCacheDecision.notModified(updated: updated.count))
        let isNoStore = isNoStore(request, head, in: flight)
        // The preferred one is stored last, so that it stays if several serve the request.
        for updated in updated.reversed() { store(updated, for: request, isRequestNoStore: isNoStore, in: flight) }
        response.source = .cache
        return response
    }

    /// Returns a stale response that may be used because no fresh one is available (RFC 9111 §4.2.4, RFC 5861 §4).
    private func staleResponse(_ fetch: Fetch, isDisconnected: Bool, in flight: Flight) -> Response? {
        let directives = RequestDirectives(fetch.request.head.headerFields, use: flight.options.cacheUse)
        let now = flight.clock.now
        for stored in fetch.candidates {
            guard
                let (staleBy, reason) = HTTPReuse.afterFailure(
                    stored, for: directives, isDisconnected: isDisconnected, at: now),
                let response = response(stored, to: fetch.request, .stale(by: staleBy, reason), in: flight)
            else { continue }
            flight.note(HTTPCacheDecision.stale(by: staleBy, reason))
            return response
        }
        return nil
    }
}

extension Request {
    /// Returns whether a 304 names a representation that the caller has.
    fileprivate func isMet(by notModified: HTTPResponse) -> Bool {
        guard let tag = notModified.headerFields[.eTag].flatMap({ EntityTag($0) }),
            let own = EntityTagList(head.headerFields[values: .ifNoneMatch])
        else { return false }
        return own.matches(tag)
    }

    /// Returns the request as it is sent: with the validators of the candidates, or with the directive that no cache on
    /// the way may respond.
    fileprivate func prepared(validating candidates: [HTTPStoredResponse], in flight: Flight) -> Request {
        var request = self
        if flight.options.cacheUse == .refresh, !head.headerFields.contains(.cacheControl) {
            request.head.headerFields[.cacheControl] = "no-cache"
        }
        // A HEAD is sent unchanged: its response says whether the stored ones are valid, see RFC 9111 §4.3.5.
        guard head.method == .get, let fields = HTTPValidation.conditional(request.head.headerFields, candidates) else {
            return request
        }
        request.callerConditions = request.head.headerFields
        request.head.headerFields = fields
        return request
    }
}
