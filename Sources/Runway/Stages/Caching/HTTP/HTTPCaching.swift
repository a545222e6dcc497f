import HTTPTypes

/// Answers from what is kept by the rules of HTTP caching, and keeps what may be kept (RFC 9111).
///
/// It is the part of the caching stage that acts by ``CachePolicy/Rule/http``. It understands GET and HEAD without a body. Streamed bodies
/// are kept while they pass, up to the largest body that is kept; what is kept is given whole.
struct HTTPCaching {
    static var step: FlightStep { .stage(.caching) }

    /// What is kept is looked up here, without waiting.
    func answerImmediately(_ request: Request, in flight: Flight) throws(NetworkError) -> ImmediateAnswer {
        switch try lookUp(request, in: flight, noting: .answers) {
        case .answer(let response, _): return .answer(response)
        case .staleAnswer(let response, _, _) where flight.manager != nil && flight.mayLandProvisionally:
            flight.note(HTTPCacheDecision.revalidating)
            flight.forgoProvisional()
            return .provisional(response)
        case .staleAnswer, .send: return .wait
        }
    }

    /// Answers from what is kept, or passes the request on and keeps its answer.
    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        guard request.isAnsweredByCaches else {
            if flight.cachePolicy.rule == .http,
                RequestDirectives(request.head.headerFields, use: flight.options.cacheUse).isOnlyIfCached
            {
                throw Self.onlyIfCachedFailed(in: flight)
            }
            let response = try await next.send(request, in: flight)
            invalidate(after: response, to: request, in: flight)
            return try request.accepting(response)
        }
        switch try lookUp(request, in: flight, noting: .everything) {
        case .answer(let response, _): return response
        case .staleAnswer(var response, let request, let candidates):
            if flight.mayLandProvisionally {
                response.isProvisional = true
                guard flight.landProvisionally(response) else {
                    response.isProvisional = false
                    revalidate(request, candidates, after: flight, next: next)
                    return response
                }
            }
            return try await fetch(request, validating: candidates, in: flight, next: next)
        case .send(let request, let candidates):
            return try await fetch(request, validating: candidates, in: flight, next: next)
        }
    }

    /// The answer that another call has kept since this one looked; `nil` where there is none, of which nothing is noted.
    ///
    /// Others may share the request who brought other preconditions, or none, beside the same validators. None of them is given an
    /// answer 304 here: a request that has preconditions is sent.
    func answerKept(to request: Request, in flight: Flight) -> Response? {
        let fields = request.head.headerFields
        guard !fields.contains(.ifNoneMatch), !fields.contains(.ifModifiedSince),
            case .answer(let response, let decision)? = try? lookUp(request, in: flight, noting: .nothing)
        else { return nil }
        flight.note(decision)
        return response
    }

    /// What of a look at the store goes on the record.
    private enum Noting { case nothing, answers, everything }

    /// What a look at the store led to.
    private enum Lookup {
        case answer(Response, HTTPCacheDecision)
        /// A stale one, in whose place a fresh one has to be fetched.
        case staleAnswer(Response, Request, validating: [StoredResponse])
        /// The request has to fly; these may be validated by it, the one to prefer first.
        case send(Request, validating: [StoredResponse])
    }

    /// Looks the request up, and what kept redirects point to.
    private func lookUp(_ request: Request, in flight: Flight, noting: Noting) throws(NetworkError) -> Lookup {
        var request = request
        var own = request
        var isElsewhere = false
        for _ in 0..<RedirectingStage.maximumRedirects {
            let found = try lookUpOnce(request, in: flight, noting: noting)
            guard case .answer(let response, _) = found, response.verdict == .redirected,
                let location = try? response.head.location(in: .stage(.caching)),
                let following = request.redirected(
                    by: response.head.status, to: location, authentication: flight.authentication)
            else {
                if case .answer = found { return found }
                // What is sent to another origin must not pass the stages that authorize for this one: it is redirected there anew.
                return isElsewhere ? .send(own, validating: []) : found
            }
            request = following
            isElsewhere = isElsewhere || Origin(following.head) != Origin(own.head)
            if !isElsewhere { own = following }
        }
        let directives = RequestDirectives(own.head.headerFields, use: flight.options.cacheUse)
        if directives.isOnlyIfCached { throw Self.onlyIfCachedFailed(in: flight) }
        // Kept redirects that lead nowhere may have changed.
        return .send(own, validating: [])
    }

    private func lookUpOnce(
        _ request: Request, in flight: Flight, noting: Noting
    ) throws(NetworkError) -> Lookup {
        guard request.isAnsweredByCaches else { return .send(request, validating: []) }
        let use = flight.options.cacheUse
        let directives = RequestDirectives(request.head.headerFields, use: use)
        if use == .refresh || HTTPValidation.isForOriginAlone(request.head.headerFields) {
            if noting == .everything { flight.note(HTTPCacheDecision.bypassed) }
            if directives.isOnlyIfCached { throw Self.onlyIfCachedFailed(in: flight) }
            return .send(request, validating: [])
        }
        let answers = flight.layer.cache.http.answers(
            of: HTTPCacheURI(request.head), for: CachePartition(request, in: flight))
        let candidates = AnswerSelection.candidates(answers, for: request.head)
        let now = flight.clock.now
        for stored in candidates {
            let reuse = HTTPReuse(stored, for: directives, at: now)
            let decision: HTTPCacheDecision
            switch reuse {
            case .fresh(let remaining): decision = .fresh(age: stored.age(at: now), remaining: remaining)
            case .stale(let staleBy, let reason): decision = .stale(by: staleBy, reason)
            case .validate: continue
            }
            guard let response = response(stored, to: request, reuse, in: flight) else { continue }
            if case .stale(_, .whileRevalidating) = reuse {
                // What a redirect leads to is not known to be what is kept there, so it is validated first.
                if response.verdict == .redirected { continue }
                if noting == .everything { flight.note(decision) }
                return .staleAnswer(response, request, validating: candidates)
            }
            if noting != .nothing { flight.note(decision) }
            return .answer(response, decision)
        }
        if directives.isOnlyIfCached { throw Self.onlyIfCachedFailed(in: flight) }
        guard noting == .everything else { return .send(request, validating: candidates) }
        if let first = candidates.first, case .validate(let staleBy) = HTTPReuse(first, for: directives, at: now) {
            let canBeValidated = candidates.contains { $0.entityTag != nil || $0.lastModified != nil }
            flight.note(
                canBeValidated
                    ? HTTPCacheDecision.validating(staleBy: staleBy) : HTTPCacheDecision.refetching(staleBy: staleBy))
        } else {
            flight.note(HTTPCacheDecision.nothingKept)
        }
        return .send(request, validating: candidates)
    }

    /// The answer that is made from what is kept; `nil` where it can't serve the request.
    func response(
        _ stored: StoredResponse, to request: Request, _ reuse: HTTPReuse, in flight: Flight
    ) -> Response? {
        let now = flight.clock.now
        guard var response = stored.response(to: request.head, age: stored.age(at: now)) else { return nil }
        guard request.takes(response) else { return nil }
        flight.setGiven(HTTPCacheURI(request.head))
        if case .stale = reuse { response.source = .staleCache } else { response.source = .cache }
        return response
    }

    /// The caller allows nothing to be sent (RFC 9111 §5.2.1.7).
    private static func onlyIfCachedFailed(in flight: Flight) -> NetworkError {
        flight.note(HTTPCacheDecision.onlyIfCachedFailed)
        var error = NetworkError.notCached
        // What a cache responds that may not ask the origin.
        error.status = .gatewayTimeout
        return error
    }
}

extension Request {
    /// Whether an answer to this may be kept and given again: a GET or HEAD without a body.
    var isAnsweredByCaches: Bool {
        guard case .none = body else { return false }
        return head.method == .get || head.method == .head
    }

    /// Whether the reader takes a body as large as an answer's.
    func takes(_ response: Response) -> Bool {
        guard case .whole(let maximum) = delivery, case .whole(let rawData) = response.body else { return true }
        return rawData.bytes.count <= maximum
    }
}
