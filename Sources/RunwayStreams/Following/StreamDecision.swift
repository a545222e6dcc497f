import HTTPTypes
import Runway

struct StreamCounts: Sendable, Equatable {
    var events = 0
    var bytes = 0
    var duplicates = 0
    var continuity: StreamContinuity?
}

/// A decision about a connection, for the record of its call.
enum StreamDecision: StageDecision {
    case opened(resumedFrom: String)
    /// The response is not a stream, for the associated reason.
    case notOpened(NoStream)
    case closed(LinkEnd, StreamCounts)

    static var step: FlightStep { .landing }

    var entry: DecisionRecord {
        switch self {
        case .opened(let id):
            .init(
                "streamOpened", ["resumedFrom": id.isEmpty ? nil : id],
                id.isEmpty ? "stream opened" : "stream opened, to resume after \(id)")
        case .notOpened(let reason):
            .init(
                "streamNotOpened",
                ["status": reason.status.code, "type": reason.type, "coding": reason.coding],
                "not a stream: \(reason)")
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
