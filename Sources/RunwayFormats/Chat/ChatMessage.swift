public import Foundation
package import RunwayJSON

/// A message of a conversation, as the server stores it.
public struct ChatMessage: Sendable, Hashable {
    /// The name of the conversation.
    public var conversation: String
    /// The number of the message in the conversation. Numbers start at 1 and have no gaps.
    public var number: Int64
    /// The name of the member who sent the message.
    public var sender: String
    /// The id that the sender's client assigned to the message. Sender and id together identify the message.
    public var id: UUID
    /// The text of the message.
    public var text: String
    /// The time at which the message was stored, in milliseconds since 1970.
    public var time: Int64

    /// Creates a message whose number and time a store has assigned.
    ///
    /// - Parameters:
    ///   - conversation: The name of the conversation.
    ///   - number: The number of the message in the conversation.
    ///   - sender: The name of the member who sent the message.
    ///   - id: The id that the sender's client assigned to the message.
    ///   - text: The text of the message.
    ///   - time: The time at which the message was stored, in milliseconds since 1970.
    public init(conversation: String, number: Int64, sender: String, id: UUID, text: String, time: Int64) {
        (self.conversation, self.number, self.sender) = (conversation, number, sender)
        (self.id, self.text, self.time) = (id, text, time)
    }

    package var date: Date { Date(timeIntervalSince1970: Double(time) / 1000) }

    package static let eventType = "chat.message"

    /// The valid message numbers, and 0. JSON can't represent greater numbers exactly (RFC 8259 §6), and the successor
    /// of the greatest number must not overflow.
    package static let numbers = 0...(Int64(1) << 53)

    package init?(_ json: JSONValue) {
        guard let number = json["number"].messageNumber, number > 0, let sender = json["sender"].string,
            let id = json["id"].string.flatMap({ UUID(uuidString: $0) }), let text = json["text"].string,
            let time = json["time"].int64
        else { return nil }
        self.init(
            conversation: json["conversation"].string ?? "", number: number, sender: sender, id: id, text: text,
            time: time)
    }

    /// Encodes the message as JSON.
    ///
    /// - Parameter epoch: The id of the message numbering; `nil` if the numbering has no id.
    package func json(epoch: String?) -> [UInt8] { JSONWriter.object { write(to: &$0, epoch: epoch) } }

    fileprivate func write(to writer: inout JSONWriter, epoch: String? = nil) {
        writer.member("epoch", epoch)
        writer.member("conversation", conversation)
        writer.member("number", number)
        writer.member("sender", sender)
        writer.member("id", id.uuidString.lowercased())
        writer.member("text", text)
        writer.member("time", time)
    }
}

/// The numbers up to which a member has received and read the messages of a conversation. Both numbers only grow.
public struct ChatMark: Sendable, Hashable, Codable {
    /// The name of the member.
    public var member: String
    /// The number up to which a device of the member has received all messages.
    public var delivered: Int64
    /// The number of the last message that the member has read. It never exceeds ``delivered``.
    public var read: Int64

    /// Creates a mark. By default, the member has received no message.
    ///
    /// - Parameters:
    ///   - member: The name of the member.
    ///   - delivered: The number of the last received message. The default, 0, means none.
    ///   - read: The number of the last read message. The default, 0, means none.
    public init(member: String, delivered: Int64 = 0, read: Int64 = 0) {
        (self.member, self.delivered, self.read) = (member, delivered, read)
    }

    package static let eventType = "chat.mark"

    package init?(_ json: JSONValue) {
        guard let member = json["member"].string, let delivered = json["delivered"].messageNumber,
            let read = json["read"].messageNumber
        else { return nil }
        self.init(member: member, delivered: delivered, read: read)
    }

    package func json(in conversation: String) -> [UInt8] {
        JSONWriter.object { writer in
            writer.member("conversation", conversation)
            write(to: &writer)
        }
    }

    /// Encodes the marks of all members of a conversation as JSON.
    package static func json(_ marks: [ChatMark]) -> [UInt8] { JSONWriter.object { $0.marks("members", marks) } }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("member", member)
        writer.member("delivered", delivered)
        writer.member("read", read)
    }
}

/// Selects messages of a conversation by number.
public enum ChatRange: Sendable, Hashable {
    /// The newest messages.
    case latest
    /// The messages that follow the message with the associated number.
    case after(Int64)
    /// The messages that precede the message with the associated number.
    case before(Int64)
}

/// A range of a conversation's messages, with the marks of the members.
public struct ChatPage: Sendable, Hashable {
    /// The messages by ascending number, without a gap.
    public var messages: [ChatMessage]
    /// The number of the first message that the store still has. If the store has no message, this is ``last`` plus
    /// one.
    public var first: Int64
    /// The number of the last message of the conversation; 0 if the conversation never had a message.
    public var last: Int64
    /// The marks of the members. They were read at the same moment as the messages.
    public var marks: [ChatMark]
    /// The id of the message numbering; `nil` if the page does not contain it.
    package var epoch: String?
    /// The present members; `nil` if the page does not contain them.
    package var presence: Presence?

    /// The names of the present members, and the run of the server that reports them.
    package struct Presence: Sendable, Hashable {
        package var run: String
        package var members: [String]

        package init(run: String, members: [String]) { (self.run, self.members) = (run, members) }
    }

    /// Creates a page. Use it to implement a store.
    public init(messages: [ChatMessage], first: Int64, last: Int64, marks: [ChatMark]) {
        (self.messages, self.first, self.last, self.marks) = (messages, first, last, marks)
    }

    /// Whether the page contains the last message of the conversation.
    package var reachesLast: Bool { (messages.last?.number ?? last) >= last }

    package init?(_ json: JSONValue) {
        guard let first = json["first"].messageNumber, first > 0, let last = json["last"].messageNumber,
            json["messages"].kind == .array
        else { return nil }
        let messages = json["messages"].elements.map { ChatMessage($0) }
        guard !messages.contains(nil) else { return nil }
        self.init(
            messages: messages.compactMap(\.self), first: first, last: last,
            marks: json["marks"].elements.compactMap { ChatMark($0) })
        epoch = json["epoch"].string
        guard let run = json["run"].string, json["present"].kind == .array else { return }
        presence = Presence(run: run, members: json["present"].elements.compactMap(\.string))
    }

    /// The page as JSON. If the page has the last message, the JSON also contains the marks and the present members.
    package var json: [UInt8] {
        JSONWriter.object { writer in
            writer.member("epoch", epoch)
            writer.member("first", first)
            writer.member("last", last)
            writer.member("messages", messages) { writer, message in writer.object { message.write(to: &$0) } }
            guard reachesLast else { return }
            writer.marks("marks", marks)
            writer.member("run", presence?.run)
            if let presence { writer.member("present", presence.members) }
        }
    }
}

/// An event that reports that a member has joined or left a topic.
package struct PresenceEvent: Sendable, Hashable {
    package static let eventType = "presence"

    package var member: String
    package var isPresent: Bool
    /// The id of the server's run, or the epoch of a log that several servers share.
    package var run: String

    package init(member: String, isPresent: Bool, run: String) {
        (self.member, self.isPresent, self.run) = (member, isPresent, run)
    }

    package init?(_ json: JSONValue) {
        guard let member = json["member"].string, let isPresent = json["isPresent"].bool, let run = json["run"].string
        else { return nil }
        self.init(member: member, isPresent: isPresent, run: run)
    }

    package var json: [UInt8] {
        JSONWriter.object { writer in
            writer.member("member", member)
            writer.member("isPresent", isPresent)
            writer.member("run", run)
        }
    }
}

extension JSONWriter {
    fileprivate mutating func marks(_ name: String, _ marks: [ChatMark]) {
        member(name, marks) { writer, mark in writer.object { mark.write(to: &$0) } }
    }
}

extension JSONValue {
    /// The value as the number of a message or 0; `nil` if it is neither.
    fileprivate var messageNumber: Int64? { int64.flatMap { ChatMessage.numbers.contains($0) ? $0 : nil } }
}
