/// The content of one call, read once from its endpoint: it distinguishes the call's request from other requests of the
/// same API. It is an object, since it is passed from hand to hand and has five collections to retain.
final class CallContent: Sendable {
    /// The path below the service's base URL.
    let path: EndpointPath
    /// The parameters, without those common to the service.
    let parameters: Parameters
    /// The parameters that the service made for this call.
    let common: Parameters
    /// The common parameters that identify the response.
    let keyedCommon: Parameters
    /// The header fields of the endpoint and the options, without those common to the service.
    let headers: [String: String]

    /// Reads the content of a call from its endpoint, its options and its service.
    ///
    /// - Throws: ``NetworkError/Kind/invalidParameters`` if its parameters can't be encoded.
    init(of endpoint: some Endpoint, in flight: Flight) throws(NetworkError) {
        path = endpoint.path
        do { parameters = try endpoint.parameters } catch { throw .invalidParameters(in: .assembling, error) }
        common = flight.commonParameters
        keyedCommon = common.leavingOut(flight.configuration.settings.unkeyedParameters)
        let options = flight.options
        headers = options.headers.isEmpty ? endpoint.headers : endpoint.headers.replacing(options.headers)
    }
}

extension [String: String] {
    /// Returns these header fields with those of a call instead of fields of the same names, compared without regard to
    /// case.
    fileprivate func replacing(_ fields: [String: String]) -> [String: String] {
        let replaced = Set(fields.keys.map { $0.lowercased() })
        return filter { !replaced.contains($0.key.lowercased()) }.merging(fields) { $1 }
    }
}

extension Flight {
    /// The parameters that the service made for this call, when they were asked for first.
    fileprivate var commonParameters: Parameters {
        if let made = recorder.commonParameters { return made }
        let made = configuration.settings.makeCommonParameters()
        recorder.setCommonParameters(made)
        return made
    }
}

extension Parameters {
    /// Returns these parameters without those with certain names.
    func leavingOut(_ names: Set<String>) -> Parameters {
        names.isEmpty || isEmpty ? self : Parameters(entries.filter { !names.contains($0.name) })
    }
}
