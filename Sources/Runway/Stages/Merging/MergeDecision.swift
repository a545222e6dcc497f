/// A decision about merging a request, for the record.
package enum MergeDecision: StageDecision, Equatable {
    /// No other request was in flight: the request was sent at once and by itself.
    case sentAtOnce
    /// The request waited, and no other arrived to be merged with it.
    case waitedAlone
    /// The request was sent in an envelope.
    ///
    /// - Parameters:
    ///   - position: Its position in the envelope, counted from 1.
    ///   - count: The number of requests in the envelope.
    ///   - flight: The flight that carried the envelope; the request on the wire is on its record.
    case carried(position: Int, count: Int, by: FlightID)
    /// The request was not merged.
    case notMerged(Reason)
    /// The server did not accept the envelope; its requests are sent one by one.
    ///
    /// - Parameter status: The status of its response.
    case notAccepted(status: Int)
    /// This flight belongs to no call: it carries the requests of these calls.
    case carries([FlightID])
    /// The number of items in the response that match no request of the envelope; they are ignored.
    case unknownItems(Int)

    /// The reason why a request was not merged although its service merges.
    package enum Reason: Sendable, Hashable {
        /// The request's endpoint does not merge.
        case endpoint
        /// The request is not allowed in an envelope: it is a stream, is too large, goes to another origin, or has a
        /// method that concerns the connection.
        case unsuited
        /// The origin uses HTTP/2.
        case http2
        /// The server has responded before that it has no route for envelopes.
        case noRoute
    }

    package static var step: FlightStep { .merging }

    package var entry: DecisionRecord {
        switch self {
        case .sentAtOnce: .init("sentAtOnce", "sent at once: nothing else is in flight")
        case .waitedAlone: .init("sentAlone", "sent alone after waiting for others")
        case .carried(let position, let count, let flight):
            .init(
                "merged", ["position": position, "count": count, "flight": flight],
                "merged as item \(position) of \(count) in \(flight)")
        case .notMerged(.endpoint):
            .init("notMerged", ["reason": "endpoint"], "not merged: the endpoint does not allow it")
        case .notMerged(.unsuited):
            .init("notMerged", ["reason": "unsuited"], "not merged: not a request that is allowed in an envelope")
        case .notMerged(.http2): .init("notMerged", ["reason": "http2"], "not merged: the origin uses HTTP/2")
        case .notMerged(.noRoute):
            .init("notMerged", ["reason": "no route"], "not merged: the server has no route for it")
        case .notAccepted(let status):
            .init(
                "envelopeRefused", ["status": status],
                "the server responded \(status) to the merged requests: sent alone")
        case .carries(let flights):
            .init(
                "carries", ["flights": flights.map(\.description).joined(separator: " ")],
                "carries \(flights.count) calls: \(flights.map(\.description).joined(separator: " "))")
        case .unknownItems(let count):
            .init("unknownItems", ["count": count], "ignored \(count) responses that match no merged request")
        }
    }
}
