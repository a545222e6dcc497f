/// The request of a call, which is created only when it is needed. A call with a cached response needs no request.
public struct RequestDraft: Sendable {
    /// The case is indirect because a request is large, and a call with a cached response has none.
    private indirect enum Made: Sendable { case request(Request) }

    /// The content of the call; `nil` if the call was made with a request.
    let content: CallContent?
    /// The cache key of the call; `nil` if it could not be computed before the request is created.
    let key: CacheKey?
    private var made: Made?

    /// Creates the draft of the request of a call whose response is delivered whole.
    ///
    /// - Parameter key: The cache key, if the content determines it; otherwise `nil`.
    init(_ content: CallContent, key: CacheKey?) { (self.content, self.key) = (content, key) }

    /// Creates the draft of the request of a call that was made with a request instead of an endpoint.
    init(_ request: Request) {
        (content, key) = (nil, nil)
        made = .request(request)
    }

    /// Returns the request as it enters the pipeline. The first call of this function creates it.
    ///
    /// - Throws: ``NetworkError/Kind/invalidParameters`` or ``NetworkError/Kind/invalidConfiguration`` if no request
    ///   can be created from the endpoint.
    public mutating func request(in flight: Flight) throws(NetworkError) -> Request {
        if case .request(let made) = made { return made }
        guard let content else { preconditionFailure("a draft has a content or a request") }
        var request = try Self.request(of: content.endpoint, content, in: flight)
        request.markAssembled()
        made = .request(request)
        // The stages that receive the request find the key in the flight.
        if let key { flight.setKey(key) }
        return request
    }

    /// Returns the cache key of the call, or `nil` if its response is not stored by the client's rules. Creates the
    /// request only if the key depends on it.
    ///
    /// - Throws: The errors of ``request(in:)``.
    mutating func key(in flight: Flight) throws(NetworkError) -> CacheKey? {
        if let key { return key }
        return CacheKey(try request(in: flight), in: flight)
    }

    private static func request<E: Endpoint>(
        of endpoint: E, _ content: CallContent, in flight: Flight
    ) throws(NetworkError) -> Request {
        let configuration = flight.configuration
        return try configuration.settings.assemble(
            endpoint, content, at: configuration.baseURL.get(), delivery: flight.wholeDelivery, in: flight)
    }
}

/// The content of one call, read once from its endpoint. It is a class because it is passed on often, and a struct
/// would have to retain six values each time.
final class CallContent: Sendable {
    /// The endpoint with the parameters as sent.
    let endpoint: any Endpoint
    /// The path relative to the service's base URL.
    let path: EndpointPath
    /// The parameters of the endpoint, without the common parameters of the service.
    let parameters: Parameters
    /// The common parameters that the service created for this call.
    let common: Parameters
    /// The common parameters that are part of the cache key.
    let keyedCommon: Parameters
    /// The header fields of the endpoint and the options, without the common header fields of the service.
    let headers: [String: String]

    /// Reads the content of a call from its endpoint, options and service.
    ///
    /// - Throws: ``NetworkError/Kind/invalidParameters`` if its parameters can't be encoded.
    init(of endpoint: some Endpoint, in flight: Flight) throws(NetworkError) {
        self.endpoint = endpoint
        path = endpoint.path
        do { parameters = try endpoint.parameters } catch { throw .invalidParameters(in: .assembling, error) }
        // The service creates these parameters once for a call, even if the content is read again.
        common = flight.recorder.content?.common ?? flight.configuration.settings.makeCommonParameters()
        keyedCommon = common.leavingOut(flight.configuration.settings.unkeyedParameters)
        let options = flight.options
        headers = options.headers.isEmpty ? endpoint.headers : endpoint.headers.replacing(options.headers)
    }
}

extension [String: String] {
    /// Returns a copy of these header fields in which `fields` replace the fields with the same names. Case does not
    /// matter.
    fileprivate func replacing(_ fields: [String: String]) -> [String: String] {
        let replaced = Set(fields.keys.map { $0.lowercased() })
        return filter { !replaced.contains($0.key.lowercased()) }.merging(fields) { $1 }
    }
}

extension Parameters {
    /// Returns the parameters whose names are not in `names`.
    func leavingOut(_ names: Set<String>) -> Parameters {
        names.isEmpty || isEmpty ? self : Parameters(entries.filter { !names.contains($0.name) })
    }
}
