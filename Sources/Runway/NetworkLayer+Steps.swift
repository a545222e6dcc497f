// The steps of one call, in order. Calls with and without a manager, transfers and prefetches all take them.

extension NetworkLayer {
    /// Creates the flight of a call, the object that represents the call while it runs.
    ///
    /// - Parameter manager: The manager that makes the call. It is referenced weakly. The default is `nil`.
    func makeFlight<E: Endpoint>(
        _ endpoint: E.Type, _ options: CallOptions, for manager: (any APIManaging)? = nil
    ) -> Flight {
        context.makeFlight(endpoint, options, for: manager, retainedLayer: self)
    }

    /// Completes and checks the parameters of an endpoint.
    func prepared<E: Endpoint>(_ endpoint: E) throws(NetworkError) -> E {
        var endpoint = endpoint
        _ = try endpoint.prepare { _ in
            true
        } validator: { _ in
        }
        return endpoint
    }

    /// Returns the draft of the request of an endpoint whose parameters were checked. It contains the cache key if the
    /// key can be computed before the request exists.
    func draft<E: Endpoint>(_ endpoint: E, in flight: Flight) throws(NetworkError) -> RequestDraft {
        if case .failure(let error) = flight.configuration.baseURL { throw error }
        let content = try content(of: endpoint, in: flight)
        if flight.cachePolicy.isClientDefined {
            flight.setKey(CacheKey(content, of: E.self, in: flight))
        }
        return RequestDraft(content, of: endpoint)
    }

    /// Returns the content of a checked endpoint's request. Records the sent parameters, and the responses that the
    /// call invalidates, in `flight`.
    private func content<E: Endpoint>(of endpoint: E, in flight: Flight) throws(NetworkError) -> CallContent {
        let content = try CallContent(of: endpoint, in: flight)
        flight.recorder.setContent(content)
        if E.offline.isQueued { flight.recorder.setQueued(endpoint) }
        flight.readInvalidations(of: endpoint)
        return content
    }

    /// Returns a response that a stage can supply without waiting, or `nil` if the request must be sent.
    func respondImmediately(_ draft: inout RequestDraft, in flight: Flight) throws(NetworkError) -> Response? {
        guard let response = try chain.respondImmediately(&draft, in: flight) else { return nil }
        flight.noteConsequence(CallDecision.landedImmediately)
        return response
    }

    /// Returns a response that a stage can supply without waiting and that the endpoint accepts, or `nil` if the
    /// request must be sent.
    ///
    /// A stored response that the endpoint rejects is removed.
    func acceptedImmediately<E: Endpoint>(
        _ draft: inout RequestDraft, for endpoint: E, in flight: Flight
    ) throws(NetworkError) -> AcceptedResponse? {
        guard let response = try respondImmediately(&draft, in: flight) else { return nil }
        do {
            return try checked(response, for: endpoint, in: flight)
        } catch {
            if flight.rejectCached(response.source) { return nil }
            throw error
        }
    }
}

extension NetworkLayer {
    /// Creates the request of an endpoint whose parameters were checked.
    func assemble<E: Endpoint>(
        _ endpoint: E, delivery: ResponseDelivery, in flight: Flight
    ) throws(NetworkError) -> Request {
        let baseURL = try flight.configuration.baseURL.get()
        let content = try content(of: endpoint, in: flight)
        return try flight.configuration.settings.assemble(
            endpoint, content, at: baseURL, delivery: delivery, in: flight)
    }

    /// Sends a request through the stages. Uses the service's transport, or the layer's if the service has none.
    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        context.grace?.begin(flight)
        return try await chain.send(request, in: flight, over: flight.configuration.transport ?? transport)
    }

    /// Sends a request and returns the response after the service and the endpoint have accepted it. The check runs off
    /// the caller's actor, which may be the main actor.
    ///
    /// If the endpoint rejects a stored response, the response is removed and the request is sent once more.
    @concurrent func accept<E: Endpoint>(
        _ request: Request, for endpoint: E, in flight: Flight
    ) async throws(NetworkError) -> AcceptedResponse {
        var response = try await send(request, in: flight)
        do {
            return try checked(response, for: endpoint, in: flight)
        } catch {
            guard flight.rejectCached(response.source) else { throw error }
        }
        response = try await send(request, in: flight)
        return try checked(response, for: endpoint, in: flight)
    }

    /// Returns a response if the service and the endpoint accept it; otherwise throws.
    func checked<E: Endpoint>(
        _ response: Response, for endpoint: E, in flight: Flight
    ) throws(NetworkError) -> AcceptedResponse {
        try flight.checkSession(in: .checking)
        try response.checkCoding(of: endpoint, in: flight)
        if let error = response.refusal { throw error }
        var rawData = try response.wholeBody(in: .checking)
        rawData.source = response.source
        flight.recorder.setSource(response.source)
        do { try endpoint.validate(response: rawData) } catch { throw .invalidResponse(in: .checking, rawData, error) }
        return AcceptedResponse(rawData: rawData, isProvisional: response.isProvisional)
    }
}

/// A response that the service and the endpoint have accepted.
struct AcceptedResponse {
    var rawData: RawData
    /// Whether the response is stale, and a fresh response is fetched after it is delivered.
    var isProvisional: Bool
}

extension Endpoint {
    /// Completes the parameters, and checks them by the endpoint's own rules and then by the rules of `validator`.
    ///
    /// - Parameters:
    ///   - change: Lets interceptors change the completed parameters. Returns `false` if one vetoed the call, which is
    ///     then not checked.
    ///   - validator: Throws if the parameters are invalid. Neither closure has a default, because a default would
    ///     allocate an object for each call.
    /// - Returns: `false` if the call was vetoed.
    mutating func prepare(
        _ change: (inout Self) throws(NetworkError) -> Bool, validator: (Self) throws -> Void
    ) throws(NetworkError) -> Bool {
        do { try complete() } catch { throw .invalidParameters(in: .preparing, error) }
        guard try change(&self) else { return false }
        do {
            try validate()
            try validator(self)
        } catch {
            throw .invalidParameters(in: .validating, error)
        }
        return true
    }

    /// Returns whether the endpoint allows the delivery of the result of its call.
    func allows(_ result: Result<RawData, NetworkError>) -> Bool {
        switch result {
        case .success(let rawData): beforeSuccess(rawData)
        case .failure(let error): beforeFailure(error)
        }
    }
}
