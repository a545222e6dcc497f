/// One event as a server sent it (WHATWG HTML §9.2.6).
public struct ServerSentEvent: Sendable, Hashable {
    /// The type, by which a reader tells events apart. `message` if the server named none.
    public var type: String
    /// The text of the event: its `data` lines, with LF between them.
    public var data: String
    /// The topic, a field of Runway's servers that other clients ignore; `nil` if the server named none.
    public var topic: String?
    /// The last id that the server sent, with this event or before it; empty if it sent none.
    public var id: String

    /// Describes an event without a server, as for tests.
    ///
    /// - Parameters:
    ///   - type: The type. The default is `message`.
    ///   - data: The text.
    ///   - id: The id. The default is an empty string: no id.
    ///   - topic: The topic. The default is `nil`: no topic.
    public init(type: String = "message", data: String, id: String = "", topic: String? = nil) {
        self.type = type
        self.data = data
        self.id = id
        self.topic = topic
    }
}
