package import RunwayJSON

/// An event about the stream itself: a connection began, events are missing, or all missed events were sent.
package struct StreamControl: Sendable {
    package enum Kind: String, Sendable {
        case resumed = "runway.resumed"
        case gap = "runway.gap"
        case reset = "runway.reset"
        case live = "runway.live"
    }

    /// The prefix of the types of control events. Other events can't use it.
    package static let typePrefix = "runway."

    package var kind: Kind
    /// The id of the connection in its first event; `nil` in later events.
    package var connection: String?
    /// The position after which a connection continues, or the first missing event.
    package var from: EventID?
    /// The last missing event.
    package var to: EventID?
    /// The topics that the client requested but may not follow.
    package var refusedTopics: Set<String>

    package init(
        _ kind: Kind, connection: String? = nil, from: EventID? = nil, to: EventID? = nil,
        refusedTopics: Set<String> = []
    ) {
        (self.kind, self.connection, self.from, self.to) = (kind, connection, from, to)
        self.refusedTopics = refusedTopics
    }

    /// Decodes an event. Returns `nil` if it has another type. Malformed members count as absent.
    package init?(type: String, data: String) {
        guard let kind = Kind(rawValue: type) else { return nil }
        let json = (try? JSONDocument(Array(data.utf8)))?.root
        self.init(
            kind, connection: json?["connection"].string, from: json?["from"].string.flatMap { EventID($0) },
            to: json?["to"].string.flatMap { EventID($0) }, refusedTopics: json?.refusedTopics ?? [])
    }

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
    /// The topics that a client requested but may not follow; empty if the object names none.
    package var refusedTopics: Set<String> { Set(self["refused"].elements.compactMap(\.string)) }
}

extension JSONWriter {
    /// Adds the topics that a client may not follow to an object. Adds nothing if there are none.
    package mutating func refusedTopics(_ topics: Set<String>) {
        if !topics.isEmpty { member("refused", topics.sorted()) }
    }
}
