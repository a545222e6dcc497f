package import RunwayJSON

/// An event of the stream itself: how a connection begins, that events are missing in the middle of it, or that the
/// missed events have been sent.
package struct StreamControl: Sendable {
    /// The type of such an event.
    package enum Kind: String, Sendable {
        case resumed = "runway.resumed"
        case gap = "runway.gap"
        case reset = "runway.reset"
        case live = "runway.live"
    }

    /// The start of the types of these events, which no other event has.
    package static let typePrefix = "runway."

    package var kind: Kind
    /// The id of the connection, at its beginning; `nil` later.
    package var connection: String?
    /// The place after which a connection continues, or the first event of a gap.
    package var from: EventID?
    /// The last event of a gap.
    package var to: EventID?
    /// The topics that the client asked for and may not follow.
    package var refusedTopics: Set<String>

    package init(
        _ kind: Kind, connection: String? = nil, from: EventID? = nil, to: EventID? = nil,
        refusedTopics: Set<String> = []
    ) {
        (self.kind, self.connection, self.from, self.to) = (kind, connection, from, to)
        self.refusedTopics = refusedTopics
    }

    /// Reads an event; `nil` if it has another type. Malformed members count as absent.
    package init?(type: String, data: String) {
        guard let kind = Kind(rawValue: type) else { return nil }
        let json = (try? JSONDocument(Array(data.utf8)))?.root
        self.init(
            kind, connection: json?["connection"].string, from: json?["from"].string.flatMap { EventID($0) },
            to: json?["to"].string.flatMap { EventID($0) }, refusedTopics: json?.refusedTopics ?? [])
    }

    /// The data of the event.
    package var data: String {
        JSONWriter.text { writer in
            writer.member("connection", connection)
            writer.member("from", from?.description)
            writer.member("to", to?.description)
            writer.refusedTopics(refusedTopics)
        }
    }
}

extension JSONValue {
    /// The topics that a client asked for and may not follow; empty if the object names none.
    package var refusedTopics: Set<String> { Set(self["refused"].elements.compactMap(\.string)) }
}

extension JSONWriter {
    /// Adds the topics that a client may not follow to an object, if there are any.
    package mutating func refusedTopics(_ topics: Set<String>) {
        if !topics.isEmpty { member("refused", topics.sorted()) }
    }
}
