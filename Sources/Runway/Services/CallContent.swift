/// The content of one call, read once from its endpoint. It is a class because it is passed on often, and a struct
/// would have to retain five collections each time.
final class CallContent: Sendable {
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
