/// The content of one call, read once from its endpoint: what distinguishes its request from those of other calls of the same
/// API.
struct CallContent: Sendable {
    /// The path below the service's base URL.
    let path: EndpointPath
    /// The parameters, without those common to the service.
    let parameters: Parameters
    /// The header fields of the endpoint and the options, without those common to the service.
    let headers: [String: String]

    /// Reads the content of a call from its endpoint and its options.
    ///
    /// - Throws: ``NetworkError/Kind/invalidParameters`` if its parameters can't be encoded.
    init(of endpoint: some Endpoint, _ options: CallOptions = .standard) throws(NetworkError) {
        path = endpoint.path
        do { parameters = try endpoint.parameters } catch { throw .invalidParameters(in: .assembling, error) }
        headers = options.headers.isEmpty ? endpoint.headers : endpoint.headers.replacing(options.headers)
    }
}

extension [String: String] {
    /// These header fields with those of a call in their place, whatever the case of their names.
    fileprivate func replacing(_ fields: [String: String]) -> [String: String] {
        let replaced = Set(fields.keys.map { $0.lowercased() })
        return filter { !replaced.contains($0.key.lowercased()) }.merging(fields) { $1 }
    }
}
