@_exported public import RunwayFormats  // users of this target name its types

/// A position in a stream: the last event that the app has processed, and the topics that it followed.
public struct StreamCursor: Sendable, Hashable, Codable {
    /// The name of the stream, as the server reported it; empty if it reported none.
    public var stream: String
    /// The id of the last event that the app has processed.
    public var lastEventID: String
    /// The topics that the app wanted. Earlier events of other topics were not received. `nil` if the server chose the
    /// topics, or if an earlier version stored the cursor.
    public var topics: Set<String>?
    /// The topics that the app wanted and the server refused. Their earlier events may not have been received.
    public var refusedTopics: Set<String>

    /// Creates a position after an event. The properties describe the parameters.
    public init(stream: String, lastEventID: String, topics: Set<String>? = nil, refusedTopics: Set<String> = []) {
        (self.stream, self.lastEventID) = (stream, lastEventID)
        (self.topics, self.refusedTopics) = (topics, refusedTopics)
    }

    /// Decodes a cursor. A cursor of an earlier version has no topics.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        stream = try values.decode(String.self, forKey: .stream)
        lastEventID = try values.decode(String.self, forKey: .lastEventID)
        topics = try values.decodeIfPresent(Set<String>.self, forKey: .topics)
        refusedTopics = try values.decodeIfPresent(Set<String>.self, forKey: .refusedTopics) ?? []
    }

    /// The epoch and offset in ``lastEventID``; `nil` if the id has another format, since the server is not a Runway
    /// server.
    public var place: EventID? { EventID(lastEventID) }
}

/// Stores the cursors of streams, so that the app continues its streams after a restart.
///
/// ``FileStreamCursorStore`` stores them in a file. A stream without a store loses them when the app ends.
public protocol StreamCursorStore: Sendable {
    /// Returns the last cursor stored under a key; `nil` if none is stored, or it can't be read.
    func cursor(for key: String) async -> StreamCursor?

    /// Stores a cursor after the app has processed its event. May return before the cursor is durable: if a cursor is
    /// lost, events are delivered a second time, and none is missed.
    ///
    /// - Parameters:
    ///   - cursor: The cursor; `nil` removes the stored one.
    ///   - key: Identifies the stream and its account in this app.
    func store(_ cursor: StreamCursor?, for key: String) async

    /// Waits until all stored cursors are durable, or can't be made durable.
    ///
    /// The default does nothing. It suits a store in memory, and a store whose ``store(_:for:)`` returns when the
    /// cursor is durable.
    func flush() async
}

extension StreamCursorStore {
    /// Does nothing, since cursors are durable when ``store(_:for:)`` returns, or never.
    public func flush() async {}
}
