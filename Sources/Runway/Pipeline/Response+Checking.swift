package import HTTPTypes

extension Response {
    /// Checks the status and header fields that a transport returned, and records the fields that the transport
    /// omitted.
    ///
    /// - Throws: ``NetworkError/Kind/invalidResponse`` if the response switches protocols, since no request asks for
    ///   that (RFC 9110 §15.2.2), or if the transport omitted the `Location` of a redirect.
    func checkHead(in flight: Flight) throws(NetworkError) {
        if head.status.kind == .informational, webSocket == nil {
            throw NetworkError(
                .invalidResponse, in: .transporting,
                "The server responded with status \(head.status.code), which the request had not asked for.",
                status: head.status)
        }
        if omittedFields.isEmpty { return }
        flight.note(OmittedFieldsDecision(names: omittedFields))
        if head.status.isRedirect, omittedFields.contains(.location) {
            throw NetworkError(
                .invalidResponse, in: .transporting,
                "The server redirected to a Location that is not UTF-8, which this transport can't read.",
                status: head.status)
        }
    }
}

extension Response {
    /// Returns the body of a response to a request with whole delivery.
    ///
    /// - Throws: ``NetworkError/Kind/invalidResponse`` if the body is a stream.
    func wholeBody(in step: FlightStep) throws(NetworkError) -> RawData {
        if case .whole(let rawData) = body { return rawData }
        throw NetworkError(
            .invalidResponse, in: step, "The call expects a whole response, but the transport returned a stream.")
    }

    /// Throws if the body still has a content coding. Does nothing for endpoints whose calls set `Accept-Encoding`
    /// themselves. A partial body (206) is checked, too: transports send `Accept-Encoding: identity` with a `Range`,
    /// since a part can't be decoded separately.
    ///
    /// Skips refused responses: the refusal is the call's error.
    ///
    /// - Throws: ``NetworkError/Kind/invalidResponse`` with a detail that names the coding.
    func checkCoding<E: Endpoint>(of endpoint: E, in flight: Flight) throws(NetworkError) {
        guard remainingCoding != nil else { return }
        let fields = [endpoint.headers, flight.options.headers, flight.configuration.settings.commonHeaders]
        if fields.flatMap(\.keys).contains(where: { $0.lowercased() == "accept-encoding" }) { return }
        try checkCoding(ofResponseTo: E.method)
    }

    /// Throws if the body still has a content coding.
    ///
    /// Skips refused responses: the refusal is the call's error.
    ///
    /// - Throws: ``NetworkError/Kind/invalidResponse`` with a detail that names the coding.
    func checkCoding(ofResponseTo method: HTTPRequest.Method) throws(NetworkError) {
        guard let coding = remainingCoding, method != .head else { return }
        switch verdict?.value {
        case .fine, .malformed: break
        default: return
        }
        var error = NetworkError(
            .invalidResponse, in: .checking,
            "The body of the response has the content coding \"\(coding)\", which this transport can't undo.",
            status: head.status)
        if case .whole(let rawData) = body { error.rawData = rawData }
        throw error
    }

    /// The content codings that the body still has; `nil` if it has none or there is no body.
    private var remainingCoding: String? {
        if case .whole(let rawData) = body, rawData.bytes.isEmpty { return nil }
        return head.remainingCoding
    }
}

extension HTTPResponse {
    /// The content codings that a transport has not removed; `nil` if there are none or there is no body.
    package var remainingCoding: String? {
        let codings = headerFields.contentCodings
        // Most responses have no content coding.
        if codings.isEmpty || [204, 304].contains(status.code) { return nil }
        return codings.joined(separator: ", ")
    }
}

/// Records the header fields that the transport omitted from a response, because it represents values as text and these
/// values are not UTF-8.
package struct OmittedFieldsDecision: StageDecision, Equatable {
    /// The names of the omitted fields. A name is repeated for each field line.
    package var names: [HTTPField.Name]

    package init(names: [HTTPField.Name]) { self.names = names }

    package static var step: FlightStep { .transporting }

    package var entry: DecisionRecord {
        let text = names.map(\.rawName).joined(separator: ", ")
        return .init("fieldsOmitted", ["names": text], "left out as not UTF-8: \(text)")
    }
}
