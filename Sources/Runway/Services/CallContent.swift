/// The content of one call, read once from its endpoint: what distinguishes its request from those of other calls of the same
/// API.
struct CallContent: Sendable {
    /// The path below the service's base URL.
    let path: EndpointPath
    /// The parameters, without those common to the service.
    let parameters: Parameters
    /// The header fields, without those common to the service.
    let headers: [String: String]

    /// Reads the content of a call from its endpoint.
    ///
    /// - Throws: ``NetworkError/Kind/invalidParameters`` if its parameters can't be encoded.
    init(of endpoint: some Endpoint) throws(NetworkError) {
        path = endpoint.path
        do { parameters = try endpoint.parameters } catch { throw .invalidParameters(in: .assembling, error) }
        headers = endpoint.headers
    }
}
