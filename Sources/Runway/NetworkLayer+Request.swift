import HTTPTypes

extension NetworkLayer {
    /// Sends a request unchanged and returns the response, even if the service refuses the request.
    ///
    /// Use it for requests that no ``Endpoint`` describes: a request that a person writes in a tool, a URL from a
    /// response, or a request in a proxy. If you can write an endpoint, prefer ``call(_:options:)``: it throws if the
    /// service does not accept the response, and returns raw data.
    ///
    /// The request passes all stages, with the service's transport and deadline. The layer adds only the options'
    /// header fields. It does not add the service's base URL, common parameters or common header fields, since the
    /// request may be for another server. The service's judgement is in ``Response/verdict``. A refusal is recorded as
    /// the outcome of the call but is not thrown. A streamed body behaves like the body of ``stream(_:options:)``.
    /// Nothing is retried unless the options contain a retry policy.
    ///
    /// - Throws: The error of the call. Its kind is ``NetworkError/Kind/cancelled`` as soon as the task is cancelled.
    ///   It is ``NetworkError/Kind/invalidParameters`` if the request has no scheme or authority, or if the authority
    ///   names no server or contains user info. It is ``NetworkError/Kind/invalidConfiguration`` if no stage judged the
    ///   response.
    public func exchange<Service: APIService>(
        _ request: Request, with service: Service.Type, options: CallOptions = .standard
    ) async throws(NetworkError) -> Response {
        try await exchange(request, with: service, in: makeExchange(with: service, options))
    }

    /// Creates the flight, the object that represents a running call, for ``exchange(_:with:options:)``.
    package func makeExchange<Service: APIService>(with service: Service.Type, _ options: CallOptions) -> Flight {
        var options = options
        // The request may be for another server, which must not receive the token.
        options.authorization = AuthorizationPolicy.none
        return makeFlight(Exchange<Service>.self, options)
    }

    /// Sends a request unchanged, as part of an existing call.
    package func exchange<Service: APIService>(
        _ request: Request, with service: Service.Type, in flight: Flight
    ) async throws(NetworkError) -> Response {
        do throws(NetworkError) {
            guard request.head.scheme != nil, let authority = request.head.authority else {
                throw NetworkError(
                    .invalidParameters, in: .assembling, "The request has no scheme or no authority.")
            }
            var request = request
            do throws(URIAuthority.Problem) {
                request.head.authority = try URIAuthority(authority.utf8).text
            } catch {
                // Credentials in a URL are an error (RFC 9110 §4.2.4). The message must not contain them.
                throw NetworkError(.invalidParameters, in: .assembling, "The request can't be sent: \(error).")
            }
            try request.head.headerFields.set(flight.options.headers)
            var draft = RequestDraft(request)
            var response: Response =
                if let response = try respondImmediately(&draft, in: flight) { response } else {
                    try await send(request, in: flight)
                }
            try flight.checkSession(in: .checking)
            if response.isProvisional { revalidate(request, with: service, after: flight) }
            flight.recorder.setSource(response.source)
            let refusal = response.refusal
            if response.verdict == nil, let refusal { throw refusal }
            switch response.body {
            case .stream(let body):
                response.body = .stream(
                    body.bounded(in: flight).recorded(in: flight, at: response.attempt?.index, refusal: refusal))
            case .whole:
                if refusal == nil { flight.storeProposal() }
                if let refusal { _ = flight.finish(failing: refusal) } else { flight.finish(.succeeded) }
            }
            return response
        } catch {
            throw flight.finish(failing: error)
        }
    }
}

/// The endpoint of a request that no ``Endpoint`` describes. It supplies the name and the service for the record.
private struct Exchange<Service: APIService>: Endpoint, EndpointOfManyPaths {
    static var service: Service.Type { Service.self }
    static var name: String { "request" }
    static var retry: RetryPolicy { .off }
    static var hedging: HedgingPolicy { .off }
    /// Always `false`: equal requests may be for two users, whose responses must not be mixed up.
    static var coalesces: Bool { false }
    static var isMergeable: Bool { false }
    /// No access token is added to the request.
    static var authorization: AuthorizationPolicy { .none }
    var path: EndpointPath { "" }
}
