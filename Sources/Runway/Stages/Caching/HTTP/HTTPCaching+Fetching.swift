import HTTPTypes

extension HTTPCaching {
    /// Sends a request, with the validators of what is kept, and gives the answer that it leads to (RFC 9111 §4.3.3).
    func fetch(
        _ request: Request, validating candidates: [StoredResponse], in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        let own = HTTPFetch(request, validating: candidates, in: flight)
        var sent = request.prepared(validating: candidates, in: flight)
        // Where a stage stands in between, only what comes out of it may be kept.
        if next.links.first?.stage is CoalescingStage { sent.fetch = own }
        let response: Response
        do {
            response = try await next.send(sent, in: flight)
        } catch {
            let isDisconnected = error.kind == .noNetwork || error.kind == .timedOut
            guard isDisconnected || error.kind == .overloaded,
                let stale = staleAnswer(candidates, to: request, isDisconnected: isDisconnected, in: flight)
            else { throw error }
            return stale
        }
        // It was kept by another call since this one looked.
        if response.source != .network { return response }
        if let answer = own.takeSettled() ?? settle(response, of: own) { return answer }
        // The caller's own preconditions may have been met; what the cache alone asked has to be asked again.
        if sent.ownConditions == nil || request.isMet(by: response.head) { return try request.accepting(response) }
        flight.note(HTTPCacheDecision.unknownNotModified)
        return try await fetch(request, validating: [], in: flight, next: next)
    }

    /// Keeps what an answer brings, and gives what the request is answered with; `nil` for an answer 304 that speaks of nothing kept.
    func settle(_ response: Response, of fetch: HTTPFetch) -> Response? {
        // A response that nobody judged fails its call, and neither updates nor replaces what is stored.
        if response.verdict == nil { return response }
        let (request, candidates, flight) = (fetch.request, fetch.candidates, fetch.flight)
        // What a shared request brings is as old, and as new, as that request, whoever joined it when.
        let ticket = response.order ?? fetch.ticket
        let times = ExchangeTimes(
            requested: response.requested ?? fetch.requested, received: flight.clock.now,
            receivedDate: HTTPDate(flight.clock.date))
        guard response.hops.isEmpty else { return keep(response, to: request, times, ticket, in: flight) }
        switch response.head.status.code {
        // The cookies changed after the cache lookup, so the server compared the validators with another sender's response.
        case 304 where !flight.isSender(of: response): return nil
        case 304: return freshen(candidates, by: response.head, to: request, times, ticket, in: flight)
        case 500, 502, 503, 504:
            let stale = staleAnswer(candidates, to: request, isDisconnected: false, in: flight)
            return stale ?? keep(response, to: request, times, ticket, in: flight)
        default: return keep(response, to: request, times, ticket, in: flight)
        }
    }

    /// Updates what an answer 304 speaks of, and gives the answer to the request; `nil` where it speaks of nothing that is kept.
    private func freshen(
        _ candidates: [StoredResponse], by head: HTTPResponse, to request: Request, _ times: ExchangeTimes,
        _ ticket: UInt64, in flight: Flight
    ) -> Response? {
        guard head.headerFields.contains(.eTag) || HTTPValidation.isUnambiguous(request.head.headerFields, candidates)
        else { return nil }
        let updated = AnswerSelection.named(by: head.headerFields, among: candidates).map {
            $0.updated(
                by: head.headerFields, requestFields: request.head.headerFields, times: times, ticket: ticket)
        }
        guard let best = updated.first else {
            let confirmed = AnswerSelection.confirmed(by: head.headerFields, among: candidates)
            guard let confirmed else { return nil }
            flight.note(HTTPCacheDecision.notModified(updated: 0))
            return response(confirmed, to: request, .fresh(remaining: .zero), in: flight)
        }
        guard var response = best.response(to: request.head, age: nil), request.takes(response) else { return nil }
        flight.note(HTTPCacheDecision.notModified(updated: updated.count))
        let isNoStore = isNoStore(request, head, in: flight)
        // The one to prefer is kept last, so that of several that serve the request it is the one that stays.
        for answer in updated.reversed() { store(answer, for: request, isRequestNoStore: isNoStore, in: flight) }
        response.source = .cache
        return response
    }

    /// What may be given although it is stale, since no fresh answer can be had (RFC 9111 §4.2.4, RFC 5861 §4).
    private func staleAnswer(
        _ candidates: [StoredResponse], to request: Request, isDisconnected: Bool, in flight: Flight
    ) -> Response? {
        let directives = RequestDirectives(request.head.headerFields, use: flight.options.cacheUse)
        let now = flight.clock.now
        for stored in candidates {
            guard
                let (staleBy, reason) = HTTPReuse.afterFailure(
                    stored, for: directives, isDisconnected: isDisconnected, at: now),
                let response = response(stored, to: request, .stale(by: staleBy, reason), in: flight)
            else { continue }
            flight.note(HTTPCacheDecision.stale(by: staleBy, reason))
            return response
        }
        return nil
    }
}

extension Request {
    /// Whether an answer 304 names something that the caller has.
    fileprivate func isMet(by notModified: HTTPResponse) -> Bool {
        guard let tag = notModified.headerFields[.eTag].flatMap({ EntityTag($0) }),
            let own = EntityTagList(head.headerFields[values: .ifNoneMatch])
        else { return false }
        return own.matches(tag)
    }

    /// The request as it is sent: with the validators of what is kept, or with the wish that no cache on the way answers it.
    fileprivate func prepared(validating candidates: [StoredResponse], in flight: Flight) -> Request {
        var request = self
        if flight.options.cacheUse == .refresh, !head.headerFields.contains(.cacheControl) {
            request.head.headerFields[.cacheControl] = "no-cache"
        }
        // A HEAD is sent as it is: its answer tells what became of what is kept, see RFC 9111 §4.3.5.
        guard head.method == .get, let fields = HTTPValidation.conditional(request.head.headerFields, candidates) else {
            return request
        }
        request.ownConditions = request.head.headerFields
        request.head.headerFields = fields
        return request
    }
}
