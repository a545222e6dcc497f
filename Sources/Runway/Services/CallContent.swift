/// What an endpoint says of one call, read once: what tells its request apart from those of other calls of the same API.
struct CallContent: Sendable {
    /// The path below the service's base URL.
    let path: EndpointPath
    /// The parameters, without those common to the service.
    let parameters: Parameters
    /// The header fields, without those common to the service.
    let headers: [String: String]

    /// Reads what an endpoint says.
    ///
    /// - Throws: ``NetworkError/Kind/invalidParameters`` where its parameters can't be made.
    init(of endpoint: some Endpoint) throws(NetworkError) {
        path = endpoint.path
        do { parameters = try endpoint.parameters } catch { throw .invalidParameters(in: .assembling, error) }
        headers = endpoint.headers
    }
}
