public import HTTPTypes

extension Response {
    /// Checks the head that a transport returned, and notes which fields it had to leave out.
    ///
    /// - Throws: ``NetworkError/Kind/invalidAnswer`` for a switch of protocols, since no request asks for one (RFC 9110 §15.2.2), and for a
    ///   redirect whose `Location` was left out.
    func checkHead(in flight: Flight) throws(NetworkError) {
        if head.status.kind == .informational {
            throw NetworkError(
                .invalidAnswer, in: .transporting,
                "The server responded with status \(head.status.code), which the request had not asked for.",
                status: head.status)
        }
        if lostFields.isEmpty { return }
        flight.note(LostFields(names: lostFields))
        if head.status.isRedirect, lostFields.contains(.location) {
            throw NetworkError(
                .invalidAnswer, in: .transporting,
                "The server redirected to a Location that is not UTF-8; this transport has values as text and can't know the target.",
                status: head.status)
        }
    }
}

/// Header fields of a response that the transport left out, because it has values as text and these are not UTF-8, for the record.
public struct LostFields: FlightDecision, Equatable {
    /// The names, one for each field.
    public var names: [HTTPField.Name]

    /// Makes the decision.
    public init(names: [HTTPField.Name]) { self.names = names }

    /// The transport.
    public static var step: FlightStep { .transporting }

    /// What was left out, as a log shows it.
    public var description: String { "left out as not UTF-8: " + names.map(\.rawName).joined(separator: ", ") }
}
