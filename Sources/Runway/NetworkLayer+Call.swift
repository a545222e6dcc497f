public import RunwayJSON

extension NetworkLayer {
    /// Makes one call and returns its response. Use it in code whose next step depends on the response: chains of
    /// calls, scripts, servers, tests.
    ///
    /// Write groups and chains of calls with Swift's structured concurrency:
    ///
    /// ```swift
    /// async let rentals = network.call(RentalList(city: city))
    /// async let homes = network.call(NewHomesList(city: city))
    /// let both = try await (rentals, homes)
    /// ```
    ///
    /// A cached response is returned without leaving the caller's actor. If the layer has interceptors for the call,
    /// their hooks run on the main actor before and after the call.
    ///
    /// - Throws: The error of the call; ``NetworkError/Kind/cancelled`` as soon as the task is cancelled.
    public func call<E: Endpoint>(
        _ endpoint: E, options: CallOptions = .standard
    ) async throws(NetworkError) -> RawData {
        try await rawData(of: endpoint, in: makeFlight(E.self, options))
    }

    /// Makes one call and decodes its response off the caller's actor.
    ///
    /// ```swift
    /// let rentals = try await network.call(RentalList(city: city), as: [Rental].self, at: "result.items")
    /// ```
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint with the parameters of the call.
    ///   - type: The type of the model.
    ///   - path: The member names that lead from the root of the body to the model, separated by dots. The default is
    ///     the root. Use ``DecodableReformer`` for names that contain dots.
    ///   - decoder: Decodes keys and dates. The default leaves keys unchanged and reads dates as seconds since
    ///     2001-01-01.
    ///   - options: Settings of this call that override those of its endpoint.
    /// - Throws: The error of the call; ``NetworkError/Kind/invalidResponse`` if the body is not JSON, has no value at
    ///   the path, or has a value of another type there. The record of the call shows that error as a decision.
    public func call<E: Endpoint, Value: Decodable & Sendable>(
        _ endpoint: E, as type: Value.Type, at path: String = "", decoder: JSONDocumentDecoder = JSONDocumentDecoder(),
        options: CallOptions = .standard
    ) async throws(NetworkError) -> Value {
        let flight = makeFlight(E.self, options)
        let rawData = try await rawData(of: endpoint, in: flight)
        let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let reformer = DecodableReformer(type, at: path.isEmpty ? [] : names, decoder: decoder)
        return try await flight.reform(rawData, of: endpoint, with: reformer)
    }

    /// Makes a call and returns the response after the service and the endpoint have accepted it.
    @inline(__always)
    private func rawData<E: Endpoint>(of endpoint: E, in flight: Flight) async throws(NetworkError) -> RawData {
        flight.recorder.setEndpoint(endpoint)
        do throws(NetworkError) {
            let rawData = try await intercepted(endpoint, in: flight) {
                $0
            } perform: { (endpoint) async throws(NetworkError) in
                try await fetch(endpoint, in: flight)
            }
            flight.finish(.succeeded)
            return rawData
        } catch {
            throw flight.finish(failing: error)
        }
    }

    /// Returns the response for a checked endpoint, and stores it if the endpoint's policy requires that.
    @inline(__always)
    private func fetch<E: Endpoint>(_ endpoint: E, in flight: Flight) async throws(NetworkError) -> RawData {
        var draft = try draft(endpoint, in: flight)
        let accepted: AcceptedResponse =
            if let response = try acceptedImmediately(&draft, for: endpoint, in: flight) { response } else {
                try await accept(draft.request(in: flight), for: endpoint, in: flight)
            }
        flight.storeProposal()
        if accepted.isProvisional, let key = try draft.key(in: flight) { revalidate(endpoint, key, after: flight) }
        return accepted.rawData
    }

    /// Makes one call and returns the body of its response in parts, as they arrive.
    ///
    /// The service judges only the status and header fields, not the body. The call's deadline covers only the time
    /// until the header fields arrive. After that, the transport's own limit on silence applies, and also
    /// ``CallOptions/wholeDeadline`` if it is set. The record of the call is closed when the body is read to its end,
    /// fails, or is discarded. To stop the transfer, discard the body or cancel the task that reads it.
    ///
    /// - Throws: The error of the call. If reading the body fails later, the body throws a ``NetworkError``.
    public func stream<E: Endpoint>(
        _ endpoint: E, options: CallOptions = .standard
    ) async throws(NetworkError) -> StreamedResponse {
        let flight = makeFlight(E.self, options)
        flight.recorder.setEndpoint(endpoint)
        do throws(NetworkError) {
            return try await intercepted(endpoint, in: flight) {
                RawData([], response: $0.response)
            } perform: { (endpoint) async throws(NetworkError) in
                try await openStream(endpoint, in: flight)
            }
        } catch {
            throw flight.finish(failing: error)
        }
    }

    /// Returns the response for a checked endpoint as soon as its header fields have arrived.
    private func openStream<E: Endpoint>(
        _ endpoint: E, in flight: Flight
    ) async throws(NetworkError) -> StreamedResponse {
        let request = try assemble(endpoint, delivery: .streamed, in: flight)
        let response = try await send(request, in: flight)
        // Background time is meant for calls that end soon, so a long-lived call does not use it.
        if flight.options.isLongLived { context.grace?.end(flight.id) }
        try flight.checkSession(in: .checking)
        try response.checkCoding(of: endpoint, in: flight)
        if let error = response.refusal { throw error }
        flight.recorder.setSource(response.source)
        let body: BodyStream =
            switch response.body {
            case .whole(let rawData): BodyStream(rawData.bytes)
            case .stream(let body): body
            }
        return StreamedResponse(
            response: response.head, body: body.bounded(in: flight).recorded(in: flight, at: response.attempt?.index),
            flight: flight, tokenRenewalWindow: response.tokenRenewalWindow)
    }

    /// Prepares an endpoint and performs its call, with the hooks of the endpoint and of the interceptors, if any.
    ///
    /// The asynchronous functions of a call are inlined: each one allocates when it is called, and a call that finds
    /// its response in memory does not wait in any of them.
    @inline(__always)
    func intercepted<E: Endpoint, Value: Sendable>(
        _ endpoint: E, in flight: Flight, rawData: (Value) -> RawData,
        perform: (E) async throws(NetworkError) -> Value
    ) async throws(NetworkError) -> Value {
        if let hooks = CallHooks(interceptors, of: flight) {
            return try await hooks.around(endpoint, rawData: rawData, perform: perform)
        }
        var endpoint = endpoint
        let value: Value
        do throws(NetworkError) {
            endpoint = try prepared(endpoint)
            value = try await perform(endpoint)
        } catch {
            let error = flight.locate(error)
            let mayBeVetoed = error.kind != .cancelled && error.kind != .queued && !error.isAbsorbed
            if mayBeVetoed, !endpoint.allows(.failure(error)) { throw flight.veto(.failure(error), by: .endpoint) }
            throw error
        }
        let result = Result<RawData, NetworkError>.success(rawData(value))
        if !endpoint.allows(result) { throw flight.veto(result, by: .endpoint) }
        return value
    }
}
