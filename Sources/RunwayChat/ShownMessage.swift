import Foundation
import RunwayFormats

/// A message of a conversation, as the client shows and stores it.
struct ShownMessage: Sendable, Hashable, Codable {
    /// Counts the messages of the conversation, from 1 and without a gap.
    var number: Int64
    var sender: String
    /// The id that the sender's client chose for it. Together with the sender it identifies the message.
    var id: UUID
    var text: String
    /// When the server stored it.
    var date: Date

    /// What identifies the message, whatever its number.
    struct Key: Hashable {
        var sender: MemberName
        var id: UUID
    }

    var key: Key { Key(sender: MemberName(sender), id: id) }

    /// Whether a member has sent it.
    func isFrom(_ member: String) -> Bool { MemberName(sender) == MemberName(member) }
}

extension ShownMessage {
    /// Takes over a message of the server.
    init(_ message: ChatMessage) {
        self.init(
            number: message.number, sender: message.sender, id: message.id, text: message.text, date: message.date)
    }
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
