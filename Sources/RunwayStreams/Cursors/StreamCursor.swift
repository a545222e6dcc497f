/// The place up to which an app has taken the events of a stream.
public struct StreamCursor: Sendable, Hashable, Codable {
    /// The name that the server gave the stream; empty if it gave none.
    public var stream: String
    /// The id of the last event that the app has taken.
    public var lastEventID: String
    /// The wanted topics that the server did not allow there: the cursor has passed their events by.
    public var refusedTopics: Set<String>

    /// Creates a cursor.
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

    /// The epoch and the offset; `nil` if the id is of another format, as those of servers other than Runway's are.
    public var place: EventID? { EventID(lastEventID) }
}

/// Stores the cursors of streams, so that an app that starts again continues where it stopped.
///
/// ``MemoryStreamCursorStore`` forgets them when the app ends; ``FileStreamCursorStore`` does not.
public protocol StreamCursorStore: Sendable {
    /// Returns the cursor that was stored last under a key; `nil` if there is none, or it can't be read.
    func cursor(for key: String) async -> StreamCursor?

    /// Stores a cursor, after the app has taken the event. It may return before the cursor is durable: a cursor that is lost makes events
    /// come a second time, and none is missed.
    ///
    /// - Parameters:
    ///   - cursor: The cursor; `nil` removes the stored one.
    ///   - key: What identifies the stream in this app, account included.
    func store(_ cursor: StreamCursor?, for key: String) async
}
