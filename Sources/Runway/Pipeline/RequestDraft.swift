/// The request of a call whose answer is wanted whole, made when somebody needs it: a call whose answer memory holds needs none.
struct RequestDraft: Sendable {
    let endpoint: any Endpoint
    let content: CallContent
    private var made: Request?

    init(_ content: CallContent, of endpoint: any Endpoint) {
        self.endpoint = endpoint
        self.content = content
    }

    /// The request.
    ///
    /// - Throws: ``NetworkError/Kind/invalidParameters`` or ``NetworkError/Kind/invalidConfiguration`` where none can be made.
    mutating func request(in flight: Flight) throws(NetworkError) -> Request {
        if let made { return made }
        let request = try Self.request(of: endpoint, content, in: flight)
        made = request
        return request
    }

    /// What the call's answer is kept under, if it is. The request is made for it only where that is not known without.
    ///
    /// - Throws: As ``request(in:)``.
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
