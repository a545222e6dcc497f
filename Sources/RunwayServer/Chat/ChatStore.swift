public import Foundation

/// A message as a client sends it.
public struct ChatSubmission: Sendable, Hashable {
    /// The conversation: 1 to 64 letters, digits and `._-`.
    public var conversation: String
    /// The member who sends it.
    public var sender: String
    /// The id that the client assigned to the message. Together with the sender it identifies the message for ever.
    public var id: UUID
    /// The text.
    public var text: String

    /// Describes a message for a store to insert.
    ///
    /// - Parameters:
    ///   - conversation: The conversation.
    ///   - sender: The member who sends it.
    ///   - id: The id that the client assigned to the message.
    ///   - text: The text.
    public init(conversation: String, sender: String, id: UUID, text: String) {
        (self.conversation, self.sender, self.id, self.text) = (conversation, sender, id, text)
    }
}

/// A message as a store has it.
public struct StoredChatMessage: Sendable, Hashable {
    /// The conversation.
    public var conversation: String
    /// The number of the message in the conversation, from 1 and without a gap.
    public var number: Int64
    /// The member who sent it.
    public var sender: String
    /// The id that the client assigned to it.
    public var id: UUID
    /// The text.
    public var text: String
    /// When it was stored, in milliseconds since 1970.
    public var time: Int64

    /// Adds to a submission the number and the time that the store has assigned.
    ///
    /// - Parameters:
    ///   - submission: What the client sent.
    ///   - number: The number in the conversation.
    ///   - time: When it was stored, in milliseconds since 1970.
    public init(_ submission: ChatSubmission, number: Int64, time: Int64) {
        (conversation, sender) = (submission.conversation, submission.sender)
        (id, text) = (submission.id, submission.text)
        (self.number, self.time) = (number, time)
    }
}

/// How far a member has received and read a conversation. Both numbers only grow.
public struct StoredChatMark: Sendable, Hashable {
    /// The member.
    public var member: String
    /// The number of the last message that a device of the member has received; all before it have been received, too.
    public var delivered: Int64
    /// The number of the last message that the member has read. It is not greater than ``delivered``.
    public var read: Int64

    /// States how far a member has received and read a conversation; by default nothing of it.
    ///
    /// - Parameters:
    ///   - member: The member.
    ///   - delivered: The number of the last message that was received. The default is 0, none.
    ///   - read: The number of the last message that was read. The default is 0, none.
    public init(member: String, delivered: Int64 = 0, read: Int64 = 0) {
        (self.member, self.delivered, self.read) = (member, delivered, read)
    }

    /// The greater numbers of two marks, at most up to the number of the last message.
    package func advanced(by other: StoredChatMark, upTo last: Int64) -> StoredChatMark {
        let read = max(self.read, min(other.read, last))
        return StoredChatMark(
            member: member, delivered: max(delivered, read, min(other.delivered, last)), read: read)
    }
}

/// The result of a submission.
public enum ChatAppendResult: Sendable, Hashable {
    /// It was stored now.
    case stored(StoredChatMessage)
    /// It had been stored before.
    case known(StoredChatMessage)
    /// The sender has used the id for another message.
    case mismatch
    /// The conversation has as many members as allowed, and the sender is not one of them.
    case full
}

/// The result of moving a mark.
public enum ChatMarkResult: Sendable, Hashable {
    /// The mark moved to this position.
    case moved(StoredChatMark)
    /// The mark already had this position, or a later one.
    case unchanged(StoredChatMark)
    /// The conversation has as many members as allowed, and this member is not one of them.
    case full
}

/// Which messages of a conversation are read.
public enum ChatRange: Sendable, Hashable {
    /// The last ones.
    case latest
    /// Those with the next greater numbers.
    case after(Int64)
    /// Those with the next smaller numbers.
    case before(Int64)
}

/// Some messages of a conversation.
public struct ChatPage: Sendable, Hashable {
    /// The messages, by ascending number and without a gap.
    public var messages: [StoredChatMessage]
    /// The number of the first message that the store still has; one more than ``last`` if it has none.
    public var first: Int64
    /// The number of the last message of the conversation; 0 if there was none.
    public var last: Int64
    /// The marks of the members, read at the same moment as the messages.
    public var marks: [StoredChatMark]

    /// Lets a store of your own return a part of a conversation.
    public init(messages: [StoredChatMessage], first: Int64, last: Int64, marks: [StoredChatMark]) {
        (self.messages, self.first, self.last, self.marks) = (messages, first, last, marks)
    }

    /// Returns the page with as many messages as fit, at least one: those that are next to where the range begins.
    func limited(toTextByteCount maximumByteCount: Int, _ range: ChatRange) -> ChatPage {
        func fittingCount(_ messages: some Sequence<StoredChatMessage>) -> Int {
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

/// Stores conversations: their messages, the marks of their members, and which messages were not published yet.
///
/// ``MemoryChatStore`` loses them when the process ends; `SQLiteChatStore` of `RunwayServerStorage` does not. The store
/// is authoritative: an event only announces what is stored.
public protocol ChatStore: Sendable {
    /// Returns the name of the numbering of the messages, letters and digits; `nil`, the default, if the store names
    /// none.
    ///
    /// It stays the same for as long as the store never gives a number to a second message. A store that was restored
    /// from a backup does, and needs another one: clients that see it discard what they show, and fetch it again.
    /// Otherwise they take new messages for those that they have under the same numbers.
    func epoch() async throws -> String?

    /// Stores a message with the next number of its conversation, and returns when it is as durable as the store makes
    /// it.
    ///
    /// Number and message are stored in one transaction, so that no number is missing and none is used twice. A
    /// submission with the id of an earlier one of its sender is not stored again. The sender becomes a member.
    ///
    /// - Parameters:
    ///   - submission: The message.
    ///   - time: When it came, in milliseconds since 1970.
    ///   - maximumMemberCount: The most members of a conversation.
    func append(
        _ submission: ChatSubmission, at time: Int64, upToMembers maximumMemberCount: Int
    ) async throws -> ChatAppendResult

    /// Moves the mark of a member forward, never back and never beyond the last message. The member is added to the
    /// conversation.
    func mark(
        _ mark: StoredChatMark, in conversation: String, upToMembers maximumMemberCount: Int
    ) async throws -> ChatMarkResult

    /// Removes a member with its mark, so that another has room. Its messages stay. Does nothing if it is not a member.
    /// A later message or mark of it adds it again.
    func remove(member: String, from conversation: String) async throws

    /// Returns messages of a conversation, and the marks of its members by their names. A conversation without messages
    /// has an empty page.
    ///
    /// - Parameters:
    ///   - conversation: The conversation.
    ///   - range: Which messages.
    ///   - maximumCount: The most messages.
    ///   - maximumMemberCount: The most marks. There may be more members if the limit was greater when they came.
    func page(
        of conversation: String, _ range: ChatRange, upTo maximumCount: Int, upToMembers maximumMemberCount: Int
    ) async throws -> ChatPage

    /// Returns the first messages of a conversation that were not reported as published.
    func unpublished(in conversation: String, upTo maximumCount: Int) async throws -> [StoredChatMessage]

    /// Records that the messages of a conversation up to a number have been published.
    func setPublished(through number: Int64, in conversation: String) async throws

    /// Returns conversations that have messages to publish.
    func unpublishedConversations(upTo maximumCount: Int) async throws -> [String]
}

extension ChatStore {
    /// Names no numbering.
    public func epoch() async throws -> String? { nil }
}
