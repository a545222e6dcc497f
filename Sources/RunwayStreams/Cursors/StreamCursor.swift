@_exported public import RunwayFormats  // users of this target name its types

/// A position in a stream: the last event that the app has taken, and the topics whose earlier events the app has
/// received.
public struct StreamCursor: Sendable, Hashable, Codable {
    /// The stream's name, as the server reported it; empty if it reported none.
    public var stream: String
    /// The id of the last event that the app has taken.
    public var lastEventID: String
    /// The topics that the app wanted; `nil` if the server chose them, or if an earlier version stored the cursor.
    /// Events of other topics up to the cursor are missing.
    public var topics: Set<String>?
    /// The topics that the app wanted and the server refused. Their events up to the cursor may be missing.
    public var refusedTopics: Set<String>

    /// Describes the position after an event of a stream.
    ///
    /// - Parameters:
    ///   - stream: The name of the stream; empty if it has none.
    ///   - lastEventID: The id of the last event that the app has taken.
    ///   - topics: The topics that the app wanted. The default, `nil`, does not name them.
    ///   - refusedTopics: The wanted topics that the server did not allow. The default is empty.
    public init(stream: String, lastEventID: String, topics: Set<String>? = nil, refusedTopics: Set<String> = []) {
        (self.stream, self.lastEventID) = (stream, lastEventID)
        (self.topics, self.refusedTopics) = (topics, refusedTopics)
    }

    /// Reads a cursor; one of an earlier version does not name its topics.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        stream = try values.decode(String.self, forKey: .stream)
        lastEventID = try values.decode(String.self, forKey: .lastEventID)
        topics = try values.decodeIfPresent(Set<String>.self, forKey: .topics)
        refusedTopics = try values.decodeIfPresent(Set<String>.self, forKey: .refusedTopics) ?? []
    }

    /// The epoch and the offset of ``lastEventID``; `nil` if it has another format, as the ids of servers other than
    /// Runway's do.
    public var place: EventID? { EventID(lastEventID) }
}

/// Stores the cursors of streams, so that an app that starts again continues where it stopped.
///
/// ``MemoryStreamCursorStore`` forgets them when the app ends; ``FileStreamCursorStore`` does not.
public protocol StreamCursorStore: Sendable {
    /// Returns the last cursor that was stored under a key; `nil` if there is none, or it can't be read.
    func cursor(for key: String) async -> StreamCursor?

    /// Stores a cursor, after the app has taken the event. It may return before the cursor is durable: if a cursor is
    /// lost, events are delivered a second time, and none is missed.
    ///
    /// - Parameters:
    ///   - cursor: The cursor; `nil` removes the stored one.
    ///   - key: Identifies the stream in this app, including its account.
    func store(_ cursor: StreamCursor?, for key: String) async

    /// Waits until every cursor that was stored before is durable, as far as that is possible. The default does
    /// nothing: it is for a store whose cursors are durable when ``store(_:for:)`` returns, or never.
    func flush() async
}

extension StreamCursorStore {
    /// Does nothing.
    public func flush() async {}
}
