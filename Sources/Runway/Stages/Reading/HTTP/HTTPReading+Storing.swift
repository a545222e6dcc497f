import HTTPTypes

extension HTTPReading {
    /// Stores a response and the redirects that led to it, each under its own target.
    ///
    /// - Returns: The response. A streamed body is copied while it passes.
    func store(
        _ response: Response, to request: Request, _ times: ExchangeTimes, _ sequenceNumber: UInt64, in flight: Flight
    ) -> Response {
        let origin = Origin(request.head)
        var hasLeft = false
        var (request, times) = (request, times)
        for hop in response.hops {
            let ordered = hop.response.attempt?.sequenceNumber ?? sequenceNumber
            if hop.isBodyThere {
                _ = storeOne(hop.response, to: request, hop.times(like: times), ordered, in: flight)
            } else {
                let partition = CachePartition(request, in: flight)
                supersede(hop.response.head.status, request, partition, ordered, in: flight)
            }
            // Lookups use requests as this stage sees them, without fields that later stages add. The chain of
            // redirects is therefore computed in the same way.
            guard let location = try? hop.response.head.location(in: .reading),
                let following = request.redirected(
                    by: hop.response.head.status, to: location, authentication: flight.recorder.authentication)
            else { return response }
            hasLeft = hasLeft || Origin(following.head) != origin
            // The redirects left the first origin and came back. The credentials were removed on the way. Direct
            // requests to the origin carry credentials, so this response must not be stored for them.
            if hasLeft, Origin(following.head) == origin { return response }
            request = following
            times.requested = hop.received
        }
        return storeOne(response, to: request, times, sequenceNumber, in: flight)
    }

    private func storeOne(
        _ response: Response, to request: Request, _ times: ExchangeTimes, _ sequenceNumber: UInt64, in flight: Flight
    ) -> Response {
        guard flight.hasSameSender(as: response) else {
            flight.note(HTTPCacheDecision.notStored(.varies))
            return response
        }
        if request.head.method == .head, freshenByHead(response, to: request, times, sequenceNumber, in: flight) {
            return response
        }
        let isNoStore = isNoStore(request, response.head, in: flight)
        let partition = CachePartition(request, in: flight)
        @Sendable func storedResponse(_ bytes: [UInt8], as rawData: RawData? = nil) -> HTTPStoredResponse? {
            HTTPStoredResponse(
                response, bytes: bytes, rawData, to: request.head, in: partition, times: times,
                sequenceNumber: sequenceNumber)
        }
        switch response.body {
        case .whole(let rawData):
            guard let stored = storedResponse(rawData.bytes, as: rawData) else {
                flight.note(HTTPCacheDecision.notStored(response.verdict == nil ? .notFine : .partial))
                return response
            }
            store(stored, for: request, isRequestNoStore: isNoStore, in: flight)
            return response
        case .stream(let body):
            let directives = ResponseDirectives(response.head.headerFields)
            let refusal = Storability.refusal(
                response.head, to: request.head, directives, verdict: response.verdict, isRequestNoStore: isNoStore)
            if let refusal {
                supersede(response.head.status, request, partition, sequenceNumber, in: flight)
                flight.note(HTTPCacheDecision.notStored(refusal))
                return response
            }
            var copied = response
            copied.body = .stream(
                body.copied(upTo: cache.limits.maximumHTTPBodyByteCount) { bytes in
                    guard let bytes else {
                        supersede(response.head.status, request, partition, sequenceNumber, in: flight)
                        return flight.note(HTTPCacheDecision.notStored(.tooLarge))
                    }
                    guard let stored = storedResponse(bytes) else { return }
                    store(stored, for: request, isRequestNoStore: isNoStore, in: flight)
                })
            return copied
        }
    }

    /// Returns whether the request, the response or the call's policy forbids storing the response.
    func isNoStore(_ request: Request, _ head: HTTPResponse, in flight: Flight) -> Bool {
        RequestDirectives(request.head.headerFields).isNoStore
            || !flight.cachePolicy.storesSetCookie && head.headerFields.contains(.setCookie)
    }

    /// Stores a response if that is allowed.
    func store(_ stored: HTTPStoredResponse, for request: Request, isRequestNoStore: Bool, in flight: Flight) {
        let uri = HTTPCacheURI(request.head)
        var refusal = Storability.refusal(
            stored.head, to: request.head, stored.directives, verdict: stored.verdict,
            isRequestNoStore: isRequestNoStore)
        let dependsOnJar = stored.vary.names(.cookie) && request.mayGetCookies(in: flight)
        if refusal == nil, stored.vary.matchesNothing || dependsOnJar { refusal = .varies }
        if refusal == nil, stored.content.byteCount > cache.limits.maximumHTTPBodyByteCount { refusal = .tooLarge }
        if refusal == nil {
            var stored = stored
            stored.isOnDisk = flight.cachePolicy.tiers.contains(.disk)
            stored.kind = flight.endpoint.cacheKind
            if cache.store(stored, of: uri, from: flight.reading.start) {
                flight.note(HTTPCacheDecision.stored(lifetime: stored.lifetime, isHeuristic: stored.isHeuristic))
                return
            }
            refusal = .outdated
        } else {
            supersede(stored.head.status, request, stored.partition, stored.sequenceNumber, in: flight)
        }
        if let refusal { flight.note(HTTPCacheDecision.notStored(refusal)) }
    }

    /// Removes the responses that this one supersedes at its origin. This response itself is not stored.
    private func supersede(
        _ status: HTTPResponse.Status, _ request: Request, _ partition: CachePartition, _ sequenceNumber: UInt64,
        in flight: Flight
    ) {
        // Other statuses concern only this request, or a temporary failure.
        guard [200, 203, 204, 300, 301, 302, 303, 307, 308, 404, 410].contains(status.code) else { return }
        cache.supersede(HTTPCacheURI(request.head), in: partition, matching: request.head, before: sequenceNumber)
    }

    /// Updates the stored responses to GET that a HEAD confirms, and requires all other responses to GET to be
    /// validated (RFC 9111 §4.3.5).
    ///
    /// - Returns: Whether any response was updated. An updated response can also be used for later HEAD requests.
    private func freshenByHead(
        _ response: Response, to request: Request, _ times: ExchangeTimes, _ sequenceNumber: UInt64, in flight: Flight
    ) -> Bool {
        guard response.head.status == .ok else { return false }
        let uri = HTTPCacheURI(request.head)
        let partition = CachePartition(request, in: flight)
        let stored = cache.responses(of: uri, for: partition).responses.filter {
            $0.method == .get && $0.sequenceNumber <= sequenceNumber && $0.vary.matches(request.head.headerFields)
        }
        if stored.isEmpty { return false }
        let fields = response.head.headerFields
        let isNoStore = isNoStore(request, response.head, in: flight)
        let good = stored.filter { $0.isConfirmed(byHead: fields) }
        let others = stored.filter { !$0.isConfirmed(byHead: fields) }.map(\.sequenceNumber)
        flight.note(HTTPCacheDecision.head(updated: good.count, distrusted: others.count))
        cache.requireValidation(of: others, of: uri, in: partition)
        var get = request
        get.head.method = .get
        for stored in good {
            let updated = stored.updated(
                by: fields, requestFields: request.head.headerFields, times: times, sequenceNumber: sequenceNumber)
            store(updated, for: get, isRequestNoStore: isNoStore, in: flight)
        }
        return !good.isEmpty
    }

    /// Invalidates the targets that a request with an unsafe method may have changed (RFC 9111 §4.4). This applies to
    /// every call, under any cache policy.
    func invalidate(after response: Response, to request: Request, in flight: Flight) {
        guard !request.head.method.isSafe, (200..<400).contains(response.head.status.code) || !response.hops.isEmpty
        else { return }
        var uris: Set<HTTPCacheURI> = [HTTPCacheURI(request.head)]
        let heads = response.hops.map(\.response.head) + [response.head]
        let targets = response.hops.map(\.request.head) + [request.head]
        // A redirect that preserves the method also changes the data at its target.
        for target in targets where !target.method.isSafe { uris.insert(HTTPCacheURI(target)) }
        for (head, target) in zip(heads, response.hops.isEmpty ? [request.head] : targets) {
            for name in [HTTPField.Name.location, .contentLocation] {
                for field in head.headerFields[fields: name] {
                    if let uri = HTTPCacheURI(URIReference(field.octets), from: target) { uris.insert(uri) }
                }
            }
        }
        let count = cache.invalidate(uris)
        if count > 0 { flight.note(HTTPCacheDecision.invalidated(count)) }
    }
}

extension BodyStream {
    /// Returns a stream that also copies its bytes. `store` receives the copy at the end, or `nil` as soon as the limit
    /// is exceeded.
    func copied(upTo maximumByteCount: Int, _ store: @escaping @Sendable ([UInt8]?) -> Void) -> BodyStream {
        BodyStream {
            var iterator = makeAsyncIterator()
            var copy: [UInt8]? = []
            return {
                // A truncated stream throws, so it is not stored.
                guard let part = try await iterator.next() else {
                    if let whole = copy { store(whole) }
                    copy = nil
                    return nil
                }
                if let count = copy?.count, count + part.count <= maximumByteCount {
                    copy?.append(contentsOf: part)
                } else if copy != nil {
                    copy = nil
                    store(nil)
                }
                return part
            }
        }
    }
}
