import HTTPTypes

extension HTTPReading {
    /// A request to send because no stored response can be used.
    struct Fetch: Sendable {
        /// The request that was used for the lookup, without validators of stored responses.
        let request: Request
        /// The stored responses that the request validates, preferred one first.
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

    /// The time and sequence number at which a call passed its request on. They are used if no transport fetched the
    /// response.
    struct RequestStart: Sendable {
        let sequenceNumber: UInt64
        let requested: Duration
    }

    /// Sends the request with the validators of the candidates, and returns the resulting response (RFC 9111 §4.3.3).
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
        // If the request has preconditions of its caller, the 304 may refer to these preconditions. If only the cache
        // added preconditions, the request is sent again without them.
        if sent.callerConditions == nil || request.isMet(by: response.head) { return try request.accepting(response) }
        flight.note(HTTPCacheDecision.unmatchedNotModified)
        return try await self.fetch(Fetch(request), reads)
    }

    /// Stores a response, and returns the response for the call. Returns `nil` for a 304 that matches no candidate.
    private func store(
        _ response: Response, to fetch: Fetch, _ requestStart: RequestStart, in flight: Flight
    ) -> Response? {
        // A response without a verdict makes its call fail, so it must not update or replace a stored response.
        if response.verdict == nil { return response }
        let request = fetch.request
        // The age and the order of a shared response depend on its request, not on when another call joined that
        // request.
        let sequenceNumber = response.attempt?.sequenceNumber ?? requestStart.sequenceNumber
        let times = ExchangeTimes(
            requested: response.attempt?.start ?? requestStart.requested, received: flight.clock.now,
            receivedDate: HTTPDate(flight.clock.date))
        countChange(by: response, of: fetch, in: flight)
        guard response.hops.isEmpty else { return store(response, to: request, times, sequenceNumber, in: flight) }
        switch response.head.status.code {
        // The cookies changed after the cache lookup. So the server has compared the validators with another sender's
        // response.
        case 304 where !flight.hasSameSender(as: response): return nil
        case 304: return freshen(fetch, by: response.head, times, sequenceNumber, in: flight)
        // These are the errors of `stale-if-error` (RFC 5861 §4).
        case 500, 502, 503, 504:
            let stale = staleResponse(fetch, isDisconnected: false, in: flight)
            return stale ?? store(response, to: request, times, sequenceNumber, in: flight)
        default: return store(response, to: request, times, sequenceNumber, in: flight)
        }
    }

    /// Counts in the report whether the response differs from the stored one.
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

    /// Updates the candidates that a 304 selects. Returns the response to the request, or `nil` if the 304 selects
    /// none.
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
        // The preferred response is stored last, so that it remains if several match the request.
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
    /// Returns whether a 304 refers to a representation that the caller has.
    fileprivate func isMet(by notModified: HTTPResponse) -> Bool {
        guard let tag = notModified.headerFields[.eTag].flatMap({ EntityTag($0) }),
            let own = EntityTagList(head.headerFields[values: .ifNoneMatch])
        else { return false }
        return own.matches(tag)
    }

    /// Returns the request as it is sent. It contains the validators of the candidates, or a directive that forbids
    /// intermediate caches to respond.
    fileprivate func prepared(validating candidates: [HTTPStoredResponse], in flight: Flight) -> Request {
        var request = self
        if flight.options.cacheUse == .refresh, !head.headerFields.contains(.cacheControl) {
            request.head.headerFields[.cacheControl] = "no-cache"
        }
        // A HEAD is sent unchanged. Its response shows whether the stored ones are valid (RFC 9111 §4.3.5).
        guard head.method == .get, let fields = HTTPValidation.conditional(request.head.headerFields, candidates) else {
            return request
        }
        request.callerConditions = request.head.headerFields
        request.head.headerFields = fields
        return request
    }
}
