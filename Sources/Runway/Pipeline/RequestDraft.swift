/// The request of a call, which is created only when it is needed. A call with a cached response needs no request.
public struct RequestDraft: Sendable {
    private enum Source: Sendable {
        case endpoint(any Endpoint, CallContent)
        case request(Request)
    }

    private let source: Source
    private var made: Request?

    /// Creates the draft of the request of a call whose response is delivered whole.
    init(_ content: CallContent, of endpoint: any Endpoint) { source = .endpoint(endpoint, content) }

    /// Creates the draft of the request of a call that was made with a request instead of an endpoint.
    init(_ request: Request) {
        source = .request(request)
        made = request
    }

    /// The endpoint of the call; `nil` if the call was made with a request.
    var endpoint: (any Endpoint)? {
        if case .endpoint(let endpoint, _) = source { endpoint } else { nil }
    }

    /// The content of the call; `nil` if the call was made with a request.
    var content: CallContent? {
        if case .endpoint(_, let content) = source { content } else { nil }
    }

    /// Returns the request as it enters the pipeline. The first call of this function creates it.
    ///
    /// - Throws: ``NetworkError/Kind/invalidParameters`` or ``NetworkError/Kind/invalidConfiguration`` if no request
    ///   can be created from the endpoint.
    public mutating func request(in flight: Flight) throws(NetworkError) -> Request {
        if let made { return made }
        guard case .endpoint(let endpoint, let content) = source else {
            preconditionFailure("a draft has an endpoint or a request")
        }
        var request = try Self.request(of: endpoint, content, in: flight)
        request.markAssembled()
        made = request
        return request
    }

    /// Returns the cache key of the call, or `nil` if its response is not stored by the client's rules. Creates the
    /// request only if the key depends on it.
    ///
    /// - Throws: The errors of ``request(in:)``.
    mutating func key(in flight: Flight) throws(NetworkError) -> CacheKey? {
        if let key = flight.key { return key }
        return CacheKey(try request(in: flight), in: flight)
    }

    private static func request<E: Endpoint>(
        of endpoint: E, _ content: CallContent, in flight: Flight
    ) throws(NetworkError) -> Request {
        let configuration = flight.configuration
        return try configuration.settings.assemble(
            endpoint, content, at: configuration.baseURL.get(),
            delivery: .whole(maximumByteCount: E.maximumResponseByteCount), in: flight)
    }
}
