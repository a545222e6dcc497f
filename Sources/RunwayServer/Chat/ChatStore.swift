public import Foundation
@_exported public import RunwayFormats  // users of this target name its types

/// A message as sent by a client.
public struct ChatSubmission: Sendable, Hashable {
    /// The conversation: 1 to 64 letters, digits and `._-`.
    public var conversation: String
    /// The member who sends the message.
    public var sender: String
    /// The id that the client assigned to the message. Sender and id identify the message for ever.
    public var id: UUID
    /// The text.
    public var text: String

    /// Creates a message for a store to insert.
    ///
    /// - Parameters:
    ///   - conversation: The conversation.
    ///   - sender: The member who sends the message.
    ///   - id: The id that the client assigned to the message.
    ///   - text: The text.
    public init(conversation: String, sender: String, id: UUID, text: String) {
        (self.conversation, self.sender, self.id, self.text) = (conversation, sender, id, text)
    }
}

extension ChatMessage {
    /// Adds to a submission the number and the time that the store has assigned.
    ///
    /// - Parameters:
    ///   - submission: The message as sent by the client.
    ///   - number: The number in the conversation.
    ///   - time: The time at which the message was stored, in milliseconds since 1970.
    public init(_ submission: ChatSubmission, number: Int64, time: Int64) {
        self.init(
            conversation: submission.conversation, number: number, sender: submission.sender, id: submission.id,
            text: submission.text, time: time)
    }
}

extension ChatMark {
    /// Returns the greater numbers of two marks, at most the number of the last message.
    package func advanced(by other: ChatMark, upTo last: Int64) -> ChatMark {
        let read = max(self.read, min(other.read, last))
        return ChatMark(member: member, delivered: max(delivered, read, min(other.delivered, last)), read: read)
    }
}

/// The result of a submission.
public enum ChatAppendResult: Sendable, Hashable {
    /// The message was stored now.
    case stored(ChatMessage)
    /// The message had been stored before.
    case known(ChatMessage)
    /// The sender has used the id for another message.
    case mismatch
    /// The limit on members of the conversation is reached, and the sender is not one of them.
    case full
}

/// The result of moving a mark.
public enum ChatMarkResult: Sendable, Hashable {
    /// The mark moved to this position.
    case moved(ChatMark)
    /// The mark already had this position, or a later one.
    case unchanged(ChatMark)
    /// The limit on members of the conversation is reached, and this member is not one of them.
    case full
}

extension ChatPage {
    /// Returns the page with as many messages as fit, at least one: those that are next to the start of the range.
    func limited(toTextByteCount maximumByteCount: Int, _ range: ChatRange) -> ChatPage {
        func fittingCount(_ messages: some Sequence<ChatMessage>) -> Int {
            var (count, byteCount) = (0, 0)
            for message in messages {
                byteCount += message.text.utf8.count
                if count > 0, byteCount > maximumByteCount { break }
                count += 1
            }
            return count
        }
        var page = self
        switch range {
        case .after: page.messages.removeLast(messages.count - fittingCount(messages))
        case .latest, .before: page.messages.removeFirst(messages.count - fittingCount(messages.reversed()))
        }
        return page
    }
}

/// Stores conversations: their messages, the marks of their members, and which messages are not published yet.
///
/// ``MemoryChatStore`` loses them when the process ends; `SQLiteChatStore` of `RunwayServerStorage` keeps them. The
/// store is authoritative: an event only announces its contents.
public protocol ChatStore: Sendable {
    /// Returns the name of the numbering of the messages, letters and digits; `nil`, the default, if the store has no
    /// such name.
    ///
    /// The name must stay the same for as long as the store never gives a number to a second message. A store that was
    /// restored from a backup reuses numbers, and needs another name: clients that see it discard the messages on their
    /// screens, and fetch them again. Otherwise they would mistake new messages for their own ones with the same
    /// numbers.
    func epoch() async throws -> String?

    /// Stores a message with the next number of its conversation, and returns when the message is durable, as far as
    /// the store provides that.
    ///
    /// Number and message are stored in one transaction, so that no number is missing and none is used twice. A
    /// submission with the id of an earlier one by the same sender is not stored again. The sender becomes a member.
    ///
    /// - Parameters:
    ///   - submission: The message.
    ///   - time: The time at which the message arrived, in milliseconds since 1970.
    ///   - maximumMemberCount: The most members of a conversation.
    func append(
        _ submission: ChatSubmission, at time: Int64, upToMembers maximumMemberCount: Int
    ) async throws -> ChatAppendResult

    /// Moves the mark of a member forward, never back and never beyond the last message. The member is added to the
    /// conversation.
    func mark(
        _ mark: ChatMark, in conversation: String, upToMembers maximumMemberCount: Int
    ) async throws -> ChatMarkResult

    /// Removes a member and the member's mark, so that another has room. The member's messages stay. Does nothing if
    /// `member` is not a member. A later message or mark of the member adds the member again.
    func remove(member: String, from conversation: String) async throws

    /// Returns messages of a conversation, and the marks of its members by their names. A conversation without messages
    /// has an empty page.
    ///
    /// - Parameters:
    ///   - conversation: The conversation.
    ///   - range: The range of messages.
    ///   - maximumCount: The most messages.
    ///   - maximumMemberCount: The most marks. There may be more members if the limit was greater when they were added.
    func page(
        of conversation: String, _ range: ChatRange, upTo maximumCount: Int, upToMembers maximumMemberCount: Int
    ) async throws -> ChatPage

    /// Returns the first messages of a conversation that were not reported as published.
    func unpublished(in conversation: String, upTo maximumCount: Int) async throws -> [ChatMessage]

    /// Records that the messages of a conversation up to a number have been published.
    func setPublished(through number: Int64, in conversation: String) async throws

    /// Returns conversations that have messages to publish.
    func unpublishedConversations(upTo maximumCount: Int) async throws -> [String]
}

extension ChatStore {
    /// Returns `nil`: the store has no name for its numbering.
    public func epoch() async throws -> String? { nil }
}
