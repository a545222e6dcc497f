import HTTPTypes

extension NetworkLayer {
    /// Sends a request unchanged and returns the response, whatever the service's verdict on it.
    ///
    /// Use it for requests that no ``Endpoint`` describes: in a tool in which a person writes the request, for a URL
    /// from a response, in a proxy. Where an endpoint can be written, ``call(_:options:)`` is the better choice: it
    /// throws for a response that the service does not accept, and returns raw data.
    ///
    /// The request passes all stages, over the service's transport and within its deadline. The layer adds only the
    /// options' header fields: not the service's base URL, nor its common parameters and header fields, since the
    /// request may be for another server. The service's judgement is the response's ``Response/verdict``; a refusal is
    /// the outcome of the call in its record, and is not thrown. A streamed body behaves like the body of
    /// ``stream(_:options:)``. Nothing is sent a second time, unless the options have a retry policy.
    ///
    /// - Throws: The error of the call. Its kind is ``NetworkError/Kind/cancelled`` as soon as the task is cancelled,
    ///   ``NetworkError/Kind/invalidParameters`` if the request has no scheme or authority, or an authority that names
    ///   no server or has user info, and ``NetworkError/Kind/invalidConfiguration`` if no stage judged the response.
    public func exchange<Service: APIService>(
        _ request: Request, with service: Service.Type, options: CallOptions = .standard
    ) async throws(NetworkError) -> Response {
        try await exchange(request, with: service, in: makeExchange(with: service, options))
    }

    /// Starts the record of an exchange.
    package func makeExchange<Service: APIService>(with service: Service.Type, _ options: CallOptions) -> Flight {
        var options = options
        // The request may be for another server.
        options.authorization = AuthorizationPolicy.none
        return makeFlight(Exchange<Service>.self, options)
    }

    /// Sends a request as it is, in a flight that was made for it.
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
                // Credentials in a URL are an error (RFC 9110 §4.2.4); the message does not show them.
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

/// The endpoint of a request that no ``Endpoint`` describes, so that its record has a name and a service.
private struct Exchange<Service: APIService>: Endpoint, EndpointOfManyPaths {
    static var service: Service.Type { Service.self }
    static var name: String { "request" }
    static var retry: RetryPolicy { .off }
    static var hedging: HedgingPolicy { .off }
    /// Two equal requests may be for two users, whose responses must not be mixed up.
    static var coalesces: Bool { false }
    static var isMergeable: Bool { false }
    /// The policy for access tokens: the request gets none.
    static var authorization: AuthorizationPolicy { .none }
    var path: EndpointPath { "" }
}
