/// What merging made of a request, for the record.
package enum Merge: StageDecision, Equatable {
    /// Nothing else was in the air: the request flew at once, as itself.
    case flewAtOnce
    /// The request waited, and nothing came to leave with it.
    case waitedAlone
    /// The request left in an envelope.
    ///
    /// - Parameters:
    ///   - position: Its place in the envelope, counted from 1.
    ///   - count: How many requests the envelope held.
    ///   - carrier: The flight that carried the envelope; the request on the wire is on its record.
    case carried(position: Int, count: Int, by: FlightID)
    /// The request was not merged.
    case apart(Reason)
    /// The server did not read the envelope; its requests fly alone.
    ///
    /// - Parameter status: What it answered.
    case notTaken(status: Int)
    /// This flight is nobody's call: it carries the requests of these.
    case carries([FlightID])
    /// The answer speaks of so many requests that were not in the envelope; they are passed over.
    case unknownAnswers(Int)

    /// Why a request was not merged although its service merges.
    package enum Reason: Sendable, Hashable {
        /// Its endpoint does not merge.
        case endpoint
        /// It can't stand in an envelope: a stream, too large, for another place, or of a method that speaks to the connection.
        case unsuited
        /// The origin speaks HTTP/2.
        case http2
        /// The server said before that it has no route for envelopes.
        case noRoute
    }

    package static var step: FlightStep { .stage(.merging) }

    package var entry: DecisionEntry {
        switch self {
        case .flewAtOnce: .init("sentAtOnce", "sent at once: nothing else is in flight")
        case .waitedAlone: .init("sentAlone", "sent alone after waiting for others")
        case .carried(let position, let count, let carrier):
            .init(
                "merged", ["position": position, "count": count, "carrier": carrier],
                "merged as item \(position) of \(count) in \(carrier)")
        case .apart(.endpoint): .init("notMerged", ["reason": "endpoint"], "not merged: the endpoint does not allow it")
        case .apart(.unsuited):
            .init("notMerged", ["reason": "unsuited"], "not merged: not a request that can stand in an envelope")
        case .apart(.http2): .init("notMerged", ["reason": "http2"], "not merged: the origin speaks HTTP/2")
        case .apart(.noRoute): .init("notMerged", ["reason": "noRoute"], "not merged: the server has no route for it")
        case .notTaken(let status):
            .init(
                "envelopeRefused", ["status": status],
                "the server responded \(status) to the merged requests: sent alone")
        case .carries(let flights):
            .init(
                "carries", ["flights": flights.map(\.description).joined(separator: " ")],
                "carries \(flights.count) calls: \(flights.map(\.description).joined(separator: " "))")
        case .unknownAnswers(let count):
            .init("unknownItems", ["count": count], "ignored \(count) responses that match no merged request")
        }
    }
}
