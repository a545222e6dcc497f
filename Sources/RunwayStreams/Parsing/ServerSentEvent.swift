/// One event as a server sent it (WHATWG HTML §9.2.6).
public struct ServerSentEvent: Sendable, Hashable {
    /// The type of the event, which distinguishes kinds of events. It is `message` if the server sent none.
    public var type: String
    /// The data of the event: its `data` lines, joined with LF.
    public var data: String
    /// The topic of the event; `nil` if the server sent none. Only Runway servers send this field.
    public var topic: String?
    /// The last id that the server sent, with this event or before it; empty if it sent none.
    public var id: String

    /// Creates an event, for example in a test. The properties describe the parameters; by default there is no id and
    /// no topic.
    public init(type: String = "message", data: String, id: String = "", topic: String? = nil) {
        self.type = type
        self.data = data
        self.id = id
        self.topic = topic
    }
}
