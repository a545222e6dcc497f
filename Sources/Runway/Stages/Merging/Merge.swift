/// What merging made of a request, for the record.
public enum Merge: FlightDecision, Equatable {
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
    public enum Reason: Sendable, Hashable {
        /// Its endpoint does not merge.
        case endpoint
        /// It can't stand in an envelope: a stream, too large, for another place, or of a method that speaks to the connection.
        case unsuited
        /// The origin speaks HTTP/2.
        case http2
        /// The server said before that it has no route for envelopes.
        case noRoute
    }

    /// The stage.
    public static var step: FlightStep { .stage(.merging) }

    /// What the stage decided, as a log shows it.
    public var description: String {
        switch self {
        case .flewAtOnce: "nothing else in the air: flies at once"
        case .waitedAlone: "waited, and flies alone"
        case .carried(let position, let count, let carrier): "merged as item \(position) of \(count) in \(carrier)"
        case .apart(.endpoint): "not merged: the endpoint does not allow it"
        case .apart(.unsuited): "not merged: not a request that can stand in an envelope"
        case .apart(.http2): "not merged: the origin speaks HTTP/2"
        case .apart(.noRoute): "not merged: the server has no route for it"
        case .notTaken(let status): "the server answered \(status) to the merged requests: flies alone"
        case .carries(let flights):
            "carries \(flights.count) calls: \(flights.map(\.description).joined(separator: " "))"
        case .unknownAnswers(let count): "\(count) answers to nothing that was asked are passed over"
        }
    }
}
