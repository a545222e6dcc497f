/// A position in a stream: the last event that the app has taken, and the topics whose events were omitted before it.
public struct StreamCursor: Sendable, Hashable, Codable {
    /// The stream's name, as the server reported it; empty if it reported none.
    public var stream: String
    /// The id of the last event that the app has taken.
    public var lastEventID: String
    /// The topics that the app wanted and the server refused. Their events up to the cursor may be missing.
    public var refusedTopics: Set<String>

    /// Describes the position after an event of a stream.
    ///
    /// - Parameters:
    ///   - stream: The name of the stream; empty if it has none.
    ///   - lastEventID: The id of the last event that the app has taken.
    ///   - refusedTopics: The wanted topics that the server did not allow. The default is none.
    public init(stream: String, lastEventID: String, refusedTopics: Set<String> = []) {
        (self.stream, self.lastEventID, self.refusedTopics) = (stream, lastEventID, refusedTopics)
    }

    /// Reads a cursor; one of an earlier version names no topics.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        stream = try values.decode(String.self, forKey: .stream)
        lastEventID = try values.decode(String.self, forKey: .lastEventID)
        refusedTopics = try values.decodeIfPresent(Set<String>.self, forKey: .refusedTopics) ?? []
    }

    /// The epoch and the offset of ``lastEventID``; `nil` if it has another format, as the ids of servers other than Runway's do.
    public var place: EventID? { EventID(lastEventID) }
}

/// Stores the cursors of streams, so that an app that starts again continues where it stopped.
///
/// ``MemoryStreamCursorStore`` forgets them when the app ends; ``FileStreamCursorStore`` does not.
public protocol StreamCursorStore: Sendable {
    /// Returns the cursor that was stored last under a key; `nil` if there is none, or it can't be read.
    func cursor(for key: String) async -> StreamCursor?

    /// Stores a cursor, after the app has taken the event. It may return before the cursor is durable: if a cursor is lost, events are
    /// delivered a second time, and none is missed.
    ///
    /// - Parameters:
    ///   - cursor: The cursor; `nil` removes the stored one.
    ///   - key: What identifies the stream in this app, account included.
    func store(_ cursor: StreamCursor?, for key: String) async

    /// Waits until every cursor that was stored before is durable, as far as that is possible. The default does nothing: it is for a store whose
    /// cursors are durable when ``store(_:for:)`` returns, or never.
    func flush() async
}

extension StreamCursorStore {
    /// Does nothing.
    public func flush() async {}
}
