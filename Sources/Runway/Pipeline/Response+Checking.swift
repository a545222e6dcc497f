package import HTTPTypes

extension Response {
    /// Checks the head that a transport returned, and records which fields the transport omitted.
    ///
    /// - Throws: ``NetworkError/Kind/invalidResponse`` for a switch of protocols, since no request asks for one (RFC 9110
    ///   §15.2.2), and for a redirect whose `Location` was omitted.
    func checkHead(in flight: Flight) throws(NetworkError) {
        if head.status.kind == .informational {
            throw NetworkError(
                .invalidResponse, in: .transporting,
                "The server responded with status \(head.status.code), which the request had not asked for.",
                status: head.status)
        }
        if omittedFields.isEmpty { return }
        flight.note(OmittedFields(names: omittedFields))
        if head.status.isRedirect, omittedFields.contains(.location) {
            throw NetworkError(
                .invalidResponse, in: .transporting,
                "The server redirected to a Location that is not UTF-8, which this transport can't read.",
                status: head.status)
        }
    }
}

/// Header fields of a response that the transport omitted, because it has values as text and these are not UTF-8, for the
/// record.
package struct OmittedFields: StageDecision, Equatable {
    /// The names, one for each field.
    package var names: [HTTPField.Name]

    package init(names: [HTTPField.Name]) { self.names = names }

    package static var step: FlightStep { .transporting }

    package var entry: DecisionRecord {
        let text = names.map(\.rawName).joined(separator: ", ")
        return .init("fieldsOmitted", ["names": text], "left out as not UTF-8: \(text)")
    }
}
