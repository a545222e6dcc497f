import HTTPTypes

/// Reads by the rules of HTTP caching (RFC 9111) under ``CachePolicy/http(onDisk:)``.
///
/// Handles GET and HEAD without a body. Streamed bodies are copied while they are read, up to the maximum size for
/// storing. A stored response is returned whole.
struct HTTPReading {
    let cache: ResponseCache

    init(_ cache: ResponseCache) { self.cache = cache }

    /// Looks up the stored responses without waiting.
    func respondImmediately(_ request: Request, in flight: Flight) throws(NetworkError) -> ImmediateResponse {
        let lookup = try lookUp(request, in: flight)
        switch lookup.found {
        case .fresh(let response):
            lookup.note(in: flight)
            return .response(response)
        case .none:
            // Unless an earlier stage changes this request, the same request will arrive in the reading stage.
            if request.isAsAssembled { flight.setLookup(.http(lookup)) }
            return .wait
        case .stale(let response, _) where flight.manager != nil && flight.mayLandProvisionally:
            flight.note(HTTPCacheDecision.revalidating)
            if let use = lookup.use { flight.count(use) }
            flight.forgoProvisional()
            return .provisional(response)
        case .stale, .notInMemory: return .wait
        }
    }

    /// Responds with a stored response, or sends the request and stores its response.
    func respond(to request: Request, _ reads: SharedReads) async throws(NetworkError) -> Response {
        let flight = reads.flight
        guard request.isCacheable else {
            if flight.cachePolicy.rule == .http,
                RequestDirectives(request.head.headerFields, use: flight.options.cacheUse).isOnlyIfCached
            {
                throw Self.onlyIfCachedError(in: flight)
            }
            let response = try await reads.send(request)
            invalidate(after: response, to: request, in: flight)
            return try request.accepting(response)
        }
        var searched: Set<HTTPCacheURI> = []
        var known: Lookup?
        if request.isAsAssembled, case .http(let lookup) = flight.takeLookup() { known = lookup }
        // The lookup is repeated only if another call has changed the stored responses of the target, or if the disk
        // tier was searched.
        while true {
            if let response = try await look(for: request, known.take(), &searched, reads) { return response }
        }
    }

    /// Responds from the cache, or fetches. Returns `nil` if the target has changed since it was looked up, or if its
    /// responses were just loaded from the disk tier into memory.
    ///
    /// - Parameter known: The lookup that the call has already made; `nil` if it must look up.
    private func look(
        for request: Request, _ known: Lookup?, _ searched: inout Set<HTTPCacheURI>, _ reads: SharedReads
    ) async throws(NetworkError) -> Response? {
        let flight = reads.flight
        let lookup = if let known { known } else { try lookUp(request, besides: searched, in: flight) }
        switch lookup.found {
        case .notInMemory(let uri, let partition):
            searched.insert(uri)
            await cache.load(uri, partition, in: flight)
            return nil
        case .fresh(let response):
            lookup.note(in: flight)
            return response
        case .stale(var response, let fetch):
            // If a stale response was delivered, the call was already counted.
            lookup.note(in: flight, counts: flight.mayLandProvisionally)
            if flight.mayLandProvisionally {
                response.isProvisional = true
                guard flight.landProvisionally(response) else {
                    response.isProvisional = false
                    revalidate(fetch, reads)
                    return response
                }
            }
            return try await self.fetch(fetch, reads)
        case .none(let fetch):
            lookup.note(in: flight)
            return try await self.fetch(fetch, reads)
        }
    }

    struct Lookup: Sendable {
        enum Found: Sendable {
            /// A response that may be returned without validation.
            case fresh(Response)
            /// A stale response may be returned, but must be revalidated.
            case stale(Response, Fetch)
            /// The request must be sent.
            case none(Fetch)
            /// Memory contains no responses of the target for this user, and the disk tier has not been searched.
            case notInMemory(HTTPCacheURI, CachePartition)
        }

        var found: Found
        /// The decisions of the lookup, for the record. If a request must be sent, its ``Fetch`` contains the last
        /// decision.
        var decisions: [HTTPCacheDecision] = []

        /// The use of the cache that the report counts if a stored response is returned.
        var use: CacheUsage.Use?

        func note(in flight: Flight, counts: Bool = true) {
            for decision in decisions { flight.note(decision) }
            if counts, let use { flight.count(use) }
        }
    }

    /// Looks up a request, and the targets of stored redirects.
    ///
    /// - Parameter searched: The targets for which the disk tier was searched.
    private func lookUp(
        _ request: Request, besides searched: Set<HTTPCacheURI> = [], in flight: Flight
    ) throws(NetworkError) -> Lookup {
        var (request, own) = (request, request)
        var decisions: [HTTPCacheDecision] = []
        var isElsewhere = false
        for _ in 0..<RedirectHop.maximumCount {
            var lookup = try lookUpOnce(request, besides: searched, in: flight)
            if case .notInMemory = lookup.found { return lookup }
            lookup.decisions = decisions + lookup.decisions
            guard case .fresh(let response) = lookup.found, response.verdict == .redirected,
                let location = try? response.head.location(in: .reading),
                let following = request.redirected(
                    by: response.head.status, to: location, authentication: flight.recorder.authentication)
            else {
                if case .fresh = lookup.found { return lookup }
                if !isElsewhere { return lookup }
                // The redirect leads to another origin, but the later stages authorize for the origin of the original
                // request. So the original request is sent, and the server redirects it again.
                var fetch = Fetch(own)
                if case .none(let elsewhere) = lookup.found {
                    (fetch.lookup.decision, fetch.lookup.use) = (elsewhere.lookup.decision, elsewhere.lookup.use)
                }
                return Lookup(found: .none(fetch), decisions: lookup.decisions)
            }
            decisions = lookup.decisions
            request = following
            isElsewhere = isElsewhere || Origin(following.head) != Origin(own.head)
            if !isElsewhere { own = following }
        }
        let directives = RequestDirectives(own.head.headerFields, use: flight.options.cacheUse)
        if directives.isOnlyIfCached { throw Self.onlyIfCachedError(in: flight) }
        // The stored redirects form a loop, but the redirects on the server may have changed.
        return Lookup(found: .none(Fetch(own)), decisions: decisions)
    }

    private func lookUpOnce(
        _ request: Request, besides searched: Set<HTTPCacheURI>, in flight: Flight
    ) throws(NetworkError) -> Lookup {
        guard request.isCacheable else { return Lookup(found: .none(Fetch(request))) }
        let uri = HTTPCacheURI(request.head)
        let partition = CachePartition(request, in: flight)
        let (stored, snapshot) = cache.responses(of: uri, for: partition)
        // A call that must not use stored responses also needs them, because its own response is combined with them.
        if stored.isEmpty, flight.cachePolicy.tiers.contains(.disk), cache.tier != nil, partition.isPersistable,
            !searched.contains(uri)
        {
            return Lookup(found: .notInMemory(uri, partition))
        }
        let use = flight.options.cacheUse
        let directives = RequestDirectives(request.head.headerFields, use: use)
        if use == .refresh || HTTPValidation.isForOriginAlone(request.head.headerFields) {
            if directives.isOnlyIfCached { throw Self.onlyIfCachedError(in: flight) }
            return Lookup(found: .none(Fetch(request, decision: .bypassed, use: .bypassed)))
        }
        let candidates = ResponseSelection.candidates(stored, for: request.head)
        let now = flight.clock.now
        var fetch = Fetch(request, validating: candidates)
        fetch.lookup.snapshot = snapshot
        for candidate in candidates {
            let reuse = HTTPReuse(candidate, for: directives, at: now)
            let decision: HTTPCacheDecision
            let use: CacheUsage.Use
            let age = candidate.age(at: now)
            switch reuse {
            case .fresh(let remaining): (decision, use) = (.fresh(age: age, remaining: remaining), .fresh(age: age))
            case .stale(let staleBy, let reason):
                (decision, use) = (.stale(by: staleBy, reason), .stale(age: age))
            case .validate: continue
            }
            guard let response = response(candidate, to: request, reuse, in: flight) else { continue }
            if case .stale(_, .whileRevalidating) = reuse {
                // The target of a stale redirect may have changed, so the redirect is validated first.
                if response.verdict == .redirected { continue }
                return Lookup(found: .stale(response, fetch), decisions: [decision], use: use)
            }
            return Lookup(found: .fresh(response), decisions: [decision], use: use)
        }
        if directives.isOnlyIfCached { throw Self.onlyIfCachedError(in: flight) }
        fetch.lookup.decision = Self.decision(for: candidates, directives, at: now)
        fetch.lookup.use = candidates.first.map { .expired(age: $0.age(at: now)) } ?? .absent
        return Lookup(found: .none(fetch))
    }

    /// Returns the decision that explains in the record why no candidate is used.
    private static func decision(
        for candidates: [HTTPStoredResponse], _ directives: RequestDirectives, at now: Duration
    ) -> HTTPCacheDecision {
        guard let first = candidates.first, case .validate(let staleBy) = HTTPReuse(first, for: directives, at: now)
        else { return .miss }
        let canBeValidated = candidates.contains { $0.entityTag != nil || $0.lastModified != nil }
        return canBeValidated ? .validating(staleBy: staleBy) : .expired(staleBy: staleBy)
    }

    /// Creates the response for the call from a stored response. Returns `nil` if the stored response can't be used for
    /// the request.
    func response(
        _ stored: HTTPStoredResponse, to request: Request, _ reuse: HTTPReuse, in flight: Flight
    ) -> Response? {
        let now = flight.clock.now
        guard var response = stored.response(to: request.head, age: stored.age(at: now)) else { return nil }
        guard request.takes(response) else { return nil }
        flight.receive(HTTPCacheURI(request.head))
        if case .stale = reuse { response.source = .staleCache } else { response.source = .cache }
        return response
    }

    /// Returns the error of a call that forbids sending a request (RFC 9111 §5.2.1.7).
    private static func onlyIfCachedError(in flight: Flight) -> NetworkError {
        flight.note(HTTPCacheDecision.onlyIfCachedMiss)
        var error = NetworkError.notCached
        // A cache that must not contact the origin responds with this status.
        error.status = .gatewayTimeout
        return error
    }
}

extension Request {
    /// Whether responses to this request may be stored and reused. True for GET and HEAD without a body.
    var isCacheable: Bool {
        guard case .none = body else { return false }
        return head.method == .get || head.method == .head
    }

    /// Returns whether the caller accepts a body of this response's size.
    func takes(_ response: Response) -> Bool {
        guard case .whole(let maximum) = delivery, case .whole(let rawData) = response.body else { return true }
        return rawData.bytes.count <= maximum
    }
}
