import Foundation
import RunwayFormats

/// A message as the client shows and stores it.
struct ShownMessage: Sendable, Hashable, Codable {
    /// The number of the message in the conversation. Numbers start at 1 and have no gaps.
    var number: Int64
    var sender: String
    /// The id that the sender's client chose for the message. Sender and id together identify the message.
    var id: UUID
    var text: String
    var date: Date

    /// The identity of the message, without its number.
    struct Key: Hashable {
        var sender: MemberName
        var id: UUID
    }

    var key: Key { Key(sender: MemberName(sender), id: id) }

    func isFrom(_ member: String) -> Bool { MemberName(sender) == MemberName(member) }
}

extension ShownMessage {
    init(_ message: ChatMessage) {
        self.init(
            number: message.number, sender: message.sender, id: message.id, text: message.text, date: message.date)
    }
}

/// A message of this member that the server has not stored yet, or has refused.
struct ChatDraft: Sendable, Hashable, Codable {
    enum State: Sendable, Hashable, Codable {
        /// The message waits for the messages before it.
        case waiting
        /// A call with the message is in flight.
        case sending
        /// The offline queue of the layer sends the message later.
        case queued
        /// The server refused the message, for the associated reason.
        case failed(String)
        /// The server stored the message under the associated number, but messages before it have not arrived yet.
        case stored(Int64)
    }

    var id: UUID
    var text: String
    var date: Date
    var state = State.waiting
    /// Whether the server may have the message. It becomes `true` when a call with the message is started. It becomes
    /// `false` again if that call ended without sending the message, or if the call was the first one and was refused.
    var mayBeSent = false
}

extension ChatDraft {
    /// Decodes a draft. A stored draft without ``mayBeSent`` may have been sent, so the property is `true`.
    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        id = try values.decode(UUID.self, forKey: .id)
        text = try values.decode(String.self, forKey: .text)
        date = try values.decode(Date.self, forKey: .date)
        state = try values.decode(State.self, forKey: .state)
        mayBeSent = try values.decodeIfPresent(Bool.self, forKey: .mayBeSent) ?? true
    }
}
