public import Foundation
@_exported public import RunwayFormats  // users of this target name its types

/// A message as a client sends it.
public struct ChatSubmission: Sendable, Hashable {
    /// The name of the conversation: 1 to 64 letters, digits and `._-`.
    public var conversation: String
    /// The member who sends the message.
    public var sender: String
    /// The id that the client assigned to the message. It must be unique for the sender forever.
    public var id: UUID
    /// The text of the message.
    public var text: String

    /// Creates a message to pass to a store. The properties describe the parameters.
    public init(conversation: String, sender: String, id: UUID, text: String) {
        (self.conversation, self.sender, self.id, self.text) = (conversation, sender, id, text)
    }
}

extension ChatMessage {
    /// Creates a stored message from a submission.
    ///
    /// - Parameters:
    ///   - submission: The message as the client sent it.
    ///   - number: The number that the store assigned, within the conversation.
    ///   - time: The time when the message was stored, in milliseconds since 1970.
    public init(_ submission: ChatSubmission, number: Int64, time: Int64) {
        self.init(
            conversation: submission.conversation, number: number, sender: submission.sender, id: submission.id,
            text: submission.text, time: time)
    }
}

extension ChatMark {
    /// Returns a mark with the greater `delivered` and the greater `read` of both marks, limited to the number of the
    /// last message.
    package func advanced(by other: ChatMark, upTo last: Int64) -> ChatMark {
        let read = max(self.read, min(other.read, last))
        return ChatMark(member: member, delivered: max(delivered, read, min(other.delivered, last)), read: read)
    }
}

/// The result of ``ChatStore/append(_:at:upToMembers:)``.
public enum ChatAppendResult: Sendable, Hashable {
    /// The message was stored.
    case stored(ChatMessage)
    /// The same message was already stored.
    case known(ChatMessage)
    /// The sender has already used the id for another message.
    case mismatch
    /// The sender is not a member, and the conversation has reached its maximum number of members.
    case full
}

/// The result of ``ChatStore/mark(_:in:upToMembers:)``.
public enum ChatMarkResult: Sendable, Hashable {
    /// The mark moved to this position.
    case moved(ChatMark)
    /// The mark already had this position or a later one.
    case unchanged(ChatMark)
    /// The member is new, and the conversation has reached its maximum number of members.
    case full
}

extension ChatPage {
    /// Returns a copy of this page with only as many messages as fit, at least one, beginning at the start of the
    /// range.
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

/// Stores conversations: their messages, the marks of their members (the last messages that each has received and
/// read), and the numbers up to which messages are published.
///
/// ``MemoryChatStore`` loses its data when the process ends; `SQLiteChatStore` of `RunwayServerStorage` stores its data
/// in a file. The store is authoritative; events only announce its contents.
public protocol ChatStore: Sendable {
    /// Returns the epoch of the message numbers, in letters and digits; `nil`, the default, if the store has no epoch.
    ///
    /// The epoch must not change as long as the store never assigns a number twice. A store that was restored from a
    /// backup reuses numbers and needs another epoch. Clients that see a new epoch discard the displayed messages and
    /// fetch them again. Otherwise, they would mistake new messages for lost ones with the same numbers.
    func epoch() async throws -> String?

    /// Stores a message with the next number of its conversation. A durable store returns when the message is durable.
    ///
    /// Number and message are stored in one transaction, so that no number is missing or used twice. A message with the
    /// same id and sender as an earlier one is not stored again. The sender becomes a member.
    ///
    /// - Parameters:
    ///   - submission: The message.
    ///   - time: The time when the message arrived, in milliseconds since 1970.
    ///   - maximumMemberCount: The maximum number of members of a conversation.
    func append(
        _ submission: ChatSubmission, at time: Int64, upToMembers maximumMemberCount: Int
    ) async throws -> ChatAppendResult

    /// Moves the mark of a member forward, never backward and never beyond the last message. The member is added to the
    /// conversation if it is not a member yet.
    func mark(
        _ mark: ChatMark, in conversation: String, upToMembers maximumMemberCount: Int
    ) async throws -> ChatMarkResult

    /// Removes a member and the member's mark, which makes space for another member. The member's messages stay. Does
    /// nothing if `member` is not a member. A later message or mark of the member adds the member again.
    func remove(member: String, from conversation: String) async throws

    /// Returns messages of a conversation, and the marks of its members sorted by name. The page of a conversation
    /// without messages is empty.
    ///
    /// - Parameters:
    ///   - conversation: The name of the conversation.
    ///   - range: The range of messages.
    ///   - maximumCount: The maximum number of messages.
    ///   - maximumMemberCount: The maximum number of marks. The conversation may have more members if the limit was
    ///     higher when they were added.
    func page(
        of conversation: String, _ range: ChatRange, upTo maximumCount: Int, upToMembers maximumMemberCount: Int
    ) async throws -> ChatPage

    /// Returns the first messages of a conversation that were not recorded as published.
    func unpublished(in conversation: String, upTo maximumCount: Int) async throws -> [ChatMessage]

    /// Records that the messages of a conversation up to a number have been published.
    func setPublished(through number: Int64, in conversation: String) async throws

    /// Returns conversations that have unpublished messages.
    func unpublishedConversations(upTo maximumCount: Int) async throws -> [String]
}

extension ChatStore {
    /// Returns `nil`: the store has no epoch.
    public func epoch() async throws -> String? { nil }
}
