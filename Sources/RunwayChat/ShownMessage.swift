import Foundation
import RunwayFormats

/// A message of a conversation, as the client shows and stores it.
struct ShownMessage: Sendable, Hashable, Codable {
    /// The number of the message in the conversation. The numbers begin with 1 and have no gap.
    var number: Int64
    var sender: String
    /// The id that the sender's client chose for the message. Together with the sender it identifies the message.
    var id: UUID
    var text: String
    /// The date at which the server stored the message.
    var date: Date

    /// The identifier of the message, whatever its number.
    struct Key: Hashable {
        var sender: MemberName
        var id: UUID
    }

    var key: Key { Key(sender: MemberName(sender), id: id) }

    /// Whether a member has sent it.
    func isFrom(_ member: String) -> Bool { MemberName(sender) == MemberName(member) }
}

extension ShownMessage {
    /// Makes the shown message of a message of the server.
    init(_ message: ChatMessage) {
        self.init(
            number: message.number, sender: message.sender, id: message.id, text: message.text, date: message.date)
    }
}

/// A message that is on its way to the server, or could not be sent.
struct ChatDraft: Sendable, Hashable, Codable {
    /// The state of a message on its way to the server.
    enum State: Sendable, Hashable, Codable {
        /// The message is sent when its turn comes.
        case waiting
        /// A call with the message was started.
        case sending
        /// The offline queue of the layer sends the message later.
        case queued
        /// The server refused the message, for this reason.
        case failed(String)
        /// The server stored the message with this number, but the messages before it have not arrived yet.
        case stored(Int64)
    }

    var id: UUID
    var text: String
    var date: Date
    var state = State.waiting
    /// Whether the server may have the message. This is so after a call with it was started, unless the call ended
    /// without sending it, or was refused and no earlier call had been started.
    var mayBeSent = false
}

extension ChatDraft {
    /// Reads a message. A message that was stored without ``mayBeSent`` may have been sent.
    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        id = try values.decode(UUID.self, forKey: .id)
        text = try values.decode(String.self, forKey: .text)
        date = try values.decode(Date.self, forKey: .date)
        state = try values.decode(State.self, forKey: .state)
        mayBeSent = try values.decodeIfPresent(Bool.self, forKey: .mayBeSent) ?? true
    }
}
