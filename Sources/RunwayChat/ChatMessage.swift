public import Foundation
import RunwayJSON

/// A message of a conversation, as the server has it.
public struct ChatMessage: Sendable, Hashable, Codable {
    /// Counts the messages of the conversation, from 1 and without a gap.
    public var number: Int64
    /// The member who sent it.
    public var sender: String
    /// The id that the sender's client chose for it. Together with the sender it identifies the message.
    public var id: UUID
    /// The text.
    public var text: String
    /// When the server stored it.
    public var date: Date

    /// Describes a message without a server, as for tests and previews.
    public init(number: Int64, sender: String, id: UUID, text: String, date: Date) {
        (self.number, self.sender, self.id, self.text, self.date) = (number, sender, id, text, date)
    }

    /// Reads a message; `nil` if it is malformed.
    init?(_ json: JSONValue) {
        guard let number = json["number"].messageNumber, number > 0, let sender = json["sender"].string,
            let id = json["id"].string.flatMap({ UUID(uuidString: $0) }), let text = json["text"].string,
            let time = json["time"].int64
        else { return nil }
        self.init(
            number: number, sender: sender, id: id, text: text, date: Date(timeIntervalSince1970: Double(time) / 1000))
    }

    /// What identifies the message, whatever its number.
    struct Key: Hashable {
        var sender: MemberName
        var id: UUID
    }

    var key: Key { Key(sender: MemberName(sender), id: id) }

    /// Whether a member has sent it.
    func isFrom(_ member: String) -> Bool { MemberName(sender) == MemberName(member) }
}

/// How far a member has received and read a conversation.
public struct ChatMark: Sendable, Hashable, Codable {
    /// The member.
    public var member: String
    /// The number of the last message that a device of the member has received.
    public var delivered: Int64
    /// The number of the last message that the member has read.
    public var read: Int64

    /// Describes a mark without a server, as for tests and previews.
    public init(member: String, delivered: Int64, read: Int64) {
        (self.member, self.delivered, self.read) = (member, delivered, read)
    }

    /// Reads a mark; `nil` if it is malformed.
    init?(_ json: JSONValue) {
        guard let member = json["member"].string, let delivered = json["delivered"].messageNumber,
            let read = json["read"].messageNumber
        else { return nil }
        self.init(member: member, delivered: delivered, read: read)
    }
}

/// Some messages of a conversation, as the server returns them.
struct ChatPage: Sendable, Hashable {
    /// Which messages a page has.
    enum Range: Sendable, Hashable {
        /// The last ones.
        case latest
        /// Those with the next greater numbers.
        case after(Int64)
        /// Those with the next smaller numbers.
        case before(Int64)
    }

    var messages: [ChatMessage]
    /// The number of the first message that the server still has.
    var first: Int64
    /// The number of the last message of the conversation.
    var last: Int64
    /// How far the members are; empty if the page does not reach the last message.
    var marks: [ChatMark]
    /// Who is present; `nil` if the page does not say so.
    var presence: ChatPresence?
    /// Names the numbering of the messages; `nil` if the page does not say so.
    var epoch: String?

    init(
        messages: [ChatMessage], first: Int64, last: Int64, marks: [ChatMark], presence: ChatPresence? = nil,
        epoch: String? = nil
    ) {
        (self.messages, self.first, self.last, self.marks) = (messages, first, last, marks)
        (self.presence, self.epoch) = (presence, epoch)
    }

    /// Reads a page; `nil` if it is malformed.
    init?(_ json: JSONValue) {
        guard let first = json["first"].messageNumber, first > 0, let last = json["last"].messageNumber,
            json["messages"].kind == .array
        else { return nil }
        let messages = json["messages"].elements.map { ChatMessage($0) }
        guard !messages.contains(nil) else { return nil }
        self.init(
            messages: messages.compactMap { $0 }, first: first, last: last,
            marks: json["marks"].elements.compactMap { ChatMark($0) }, presence: ChatPresence(page: json),
            epoch: json["epoch"].string)
    }
}

extension ChatMessage {
    /// The numbers that a message can have, and 0. JSON carries no greater ones exactly (RFC 8259 §6), and the number
    /// after it must be representable.
    static let numbers = 0...(Int64(1) << 53)
}

extension JSONValue {
    /// A number of a message, or 0; `nil` if it is malformed.
    fileprivate var messageNumber: Int64? { int64.flatMap { ChatMessage.numbers.contains($0) ? $0 : nil } }
}

/// A message that is on its way to the server, or could not be sent.
struct ChatDraft: Sendable, Hashable, Codable {
    /// What becomes of it.
    enum State: Sendable, Hashable, Codable {
        /// It is sent when its turn comes.
        case waiting
        /// A call with it was started.
        case sending
        /// The offline queue of the layer sends it later.
        case queued
        /// The server refused it, for this reason.
        case failed(String)
        /// The server stored it with this number; the messages before it have not come yet.
        case stored(Int64)
    }

    var id: UUID
    var text: String
    var date: Date
    var state = State.waiting
    /// Whether the server may have it: a call with it was started, and neither ended without having sent it nor was
    /// refused while no call before it had been started.
    var mayBeSent = false
}

extension ChatDraft {
    /// Reads a message. One that was stored without ``mayBeSent`` may have been sent.
    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        id = try values.decode(UUID.self, forKey: .id)
        text = try values.decode(String.self, forKey: .text)
        date = try values.decode(Date.self, forKey: .date)
        state = try values.decode(State.self, forKey: .state)
        mayBeSent = try values.decodeIfPresent(Bool.self, forKey: .mayBeSent) ?? true
    }
}
