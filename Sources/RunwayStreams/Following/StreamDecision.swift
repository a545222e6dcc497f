import Runway

/// What a link carried.
struct StreamCounts: Sendable, Equatable {
    var events = 0
    var bytes = 0
    var duplicates = 0
    var continuity: StreamContinuity?
}

/// What a stream did with a link, for the record of its call.
enum StreamDecision: StageDecision {
    case opened(resumedFrom: String)
    /// The response is no stream, but of this media type; `nil` if it names none.
    case notOpened(type: String?)
    case closed(LinkEnd, StreamCounts)

    static var step: FlightStep { .landing }

    var entry: DecisionRecord {
        switch self {
        case .opened(let id):
            .init(
                "streamOpened", ["resumedFrom": id.isEmpty ? nil : id],
                id.isEmpty ? "stream opened" : "stream opened, to resume after \(id)")
        case .notOpened(let type):
            .init(
                "streamNotOpened", ["type": type],
                "\(type == "text/html" ? "a page" : type ?? "a response without a type") instead of a stream")
        case .closed(let end, let counts):
            .init(
                "streamClosed",
                [
                    "reason": end.name, "events": counts.events, "bytes": counts.bytes, "duplicates": counts.duplicates,
                    "continuity": counts.continuity?.description,
                ],
                "stream closed after \(counts.events) events in \(counts.bytes) bytes: \(end.text)")
        }
    }
}
