/// A decision about merging a request, for the call's record.
package enum MergeDecision: StageDecision, Equatable {
    /// No other request was in flight, so this one was sent at once, without waiting for others.
    case sentAtOnce
    /// The request waited, but no other request arrived to be merged with it.
    case waitedAlone
    /// The request was merged with others into one request, the envelope.
    ///
    /// - Parameters:
    ///   - position: The position of the request in the envelope, counted from 1.
    ///   - count: The number of requests in the envelope.
    ///   - flight: The number of the call that sent the envelope. The record of that call contains the attempt.
    case carried(position: Int, count: Int, by: FlightID)
    case notMerged(Reason)
    /// The server did not accept the merged request, the envelope, so the requests in it are sent separately.
    ///
    /// - Parameter status: The status of the server's response.
    case notAccepted(status: Int)
    /// This call was not made by the app. It sends the merged requests of these calls.
    case carries([FlightID])
    /// The merged response contains this number of items that match no request. They are ignored.
    case unknownItems(Int)

    /// The reason why a request was not merged although its service merges requests.
    package enum Reason: Sendable, Hashable {
        /// The request's endpoint does not allow merging.
        case endpoint
        /// The request can't be merged: it is a stream, is too large, goes to another origin, or has a method that
        /// concerns the connection.
        case unsuited
        /// The origin uses HTTP/2, and the policy does not merge over HTTP/2.
        case http2
        /// An earlier response of the server showed that it has no route for merged requests.
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
