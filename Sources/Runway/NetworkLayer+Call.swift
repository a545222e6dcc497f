extension NetworkLayer {
    /// Makes one call and waits for its answer. For code whose next step depends on the answer: chains, scripts, servers, tests.
    ///
    /// Groups and chains of calls are plain structured concurrency:
    ///
    /// ```swift
    /// async let rentals = network.call(RentalList(city: city))
    /// async let homes = network.call(NewHomesList(city: city))
    /// let both = try await (rentals, homes)
    /// ```
    ///
    /// What memory holds is returned without leaving the caller's actor. Interceptors, which belong to managers, do not see the call.
    ///
    /// - Throws: The one error that the call ended in; of kind ``NetworkError/Kind/cancelled`` at once when the task is cancelled.
    public func call<E: Endpoint>(
        _ endpoint: E, options: CallOptions = .standard
    ) async throws(NetworkError) -> RawData {
        let flight = makeFlight(E.self, options)
        flight.recorder.setEndpoint(endpoint)
        do throws(NetworkError) {
            let endpoint = try prepared(endpoint)
            var draft = try draft(endpoint, in: flight)
            let accepted: AcceptedAnswer =
                if let answer = try acceptedImmediately(&draft, for: endpoint, in: flight) { answer } else {
                    try await accept(draft.request(in: flight), for: endpoint, in: flight)
                }
            flight.storeProposal()
            if accepted.isProvisional, let key = try draft.key(in: flight) { revalidate(endpoint, key, after: flight) }
            flight.finish(.succeeded)
            return accepted.rawData
        } catch {
            throw flight.finish(failing: error)
        }
    }

    /// Makes one call and gives the body of its answer part by part, as it comes in.
    ///
    /// The service judges the head alone. The deadline of the call covers the wait for the head; after it the transport's own limit
    /// on silence holds, and ``CallOptions/wholeDeadline`` where the options name one. The record of the call is closed when the
    /// body is read to its end, fails, or is let go. To stop the transfer, let the body go or cancel the task that reads it.
    ///
    /// - Throws: The one error that the call ended in. What goes wrong while the body is read is thrown there, as a ``NetworkError``.
    public func stream<E: Endpoint>(
        _ endpoint: E, options: CallOptions = .standard
    ) async throws(NetworkError) -> StreamedResponse {
        let flight = makeFlight(E.self, options)
        flight.recorder.setEndpoint(endpoint)
        do throws(NetworkError) {
            let endpoint = try prepared(endpoint)
            let request = try assemble(endpoint, delivery: .streamed, in: flight)
            let response = try await send(request, in: flight)
            try flight.checkSession(in: .checking)
            if let error = response.refusal { throw error }
            flight.recorder.setSource(response.source)
            let body: BodyStream =
                switch response.body {
                case .whole(let rawData): BodyStream(rawData.bytes)
                case .stream(let body): body
                }
            return StreamedResponse(
                response: response.head,
                body: body.bounded(in: flight).recorded(in: flight, at: response.attempt?.index))
        } catch {
            throw flight.finish(failing: error)
        }
    }

    /// Lets an endpoint complete and check its parameters.
    func prepared<E: Endpoint>(_ endpoint: E) throws(NetworkError) -> E {
        var endpoint = endpoint
        do { try endpoint.complete() } catch { throw .invalidParameters(in: .preparing, error) }
        do { try endpoint.validate() } catch { throw .invalidParameters(in: .validating, error) }
        return endpoint
    }

    /// The answer that a stage has at once and the endpoint accepts; `nil` if the request has to fly.
    ///
    /// What was kept and is refused now is let go, and the request flies.
    func acceptedImmediately<E: Endpoint>(
        _ draft: inout RequestDraft, for endpoint: E, in flight: Flight
    ) throws(NetworkError) -> AcceptedAnswer? {
        guard let response = try answerImmediately(&draft, in: flight) else { return nil }
        do {
            return AcceptedAnswer(
                rawData: try checked(response, for: endpoint, in: flight), isProvisional: response.isProvisional)
        } catch {
            if flight.rejectCached(response.source) { return nil }
            throw error
        }
    }

    /// Sends a request and gives the answer that the service and the endpoint accept. It is checked where it came: off the caller's
    /// actor, which may be the main actor.
    ///
    /// Where what was kept is refused now, it is let go, and the request is sent once more.
    @concurrent func accept<E: Endpoint>(
        _ request: Request, for endpoint: E, in flight: Flight
    ) async throws(NetworkError) -> AcceptedAnswer {
        var response = try await send(request, in: flight)
        do {
            return AcceptedAnswer(
                rawData: try checked(response, for: endpoint, in: flight), isProvisional: response.isProvisional)
        } catch {
            guard flight.rejectCached(response.source) else { throw error }
        }
        response = try await send(request, in: flight)
        return AcceptedAnswer(
            rawData: try checked(response, for: endpoint, in: flight), isProvisional: response.isProvisional)
    }

    /// Turns an answer into raw data that the service and the endpoint accept.
    func checked<E: Endpoint>(
        _ response: Response, for endpoint: E, in flight: Flight
    ) throws(NetworkError) -> RawData {
        try flight.checkSession(in: .checking)
        if let error = response.refusal { throw error }
        guard case .whole(var rawData) = response.body else {
            throw NetworkError(.invalidResponse, in: .checking, "A whole answer was asked for, and a stream came.")
        }
        rawData.source = response.source
        flight.recorder.setSource(response.source)
        do { try endpoint.validate(response: rawData) } catch { throw .invalidResponse(in: .checking, rawData, error) }
        return rawData
    }
}

/// An answer that the service and the endpoint accepted.
struct AcceptedAnswer {
    var rawData: RawData
    /// Whether it is stale, and a fresh one is to be fetched although it lands.
    var isProvisional: Bool
}
