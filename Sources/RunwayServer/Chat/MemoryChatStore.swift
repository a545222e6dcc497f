import Foundation
public import RunwayFormats
import RunwaySignatures
import Synchronization

/// Stores conversations in memory, for tests and for servers whose conversations may be lost when the process ends.
public final class MemoryChatStore: ChatStore {
    fileprivate struct Conversation {
        /// The messages in ascending order of their numbers, without gaps.
        var messages: [ChatMessage] = []
        var last: Int64 = 0
        var published: Int64 = 0
        var marks: [ExactText: ChatMark] = [:]

        var first: Int64 { last - Int64(messages.count) + 1 }

        func messages(from number: Int64, upTo count: Int) -> [ChatMessage] {
            let index = Int(clamping: max(number, first) - first)
            return index < messages.count ? Array(messages[index...].prefix(count)) : []
        }
    }

    private struct Key: Hashable {
        var sender: ExactText
        var id: UUID
    }

    private struct State {
        var conversations: [ExactText: Conversation] = [:]
        var places: [Key: ChatMessage] = [:]
    }

    private let name = EventLogRange.newEpoch()
    private let maximumCount: Int
    /// Guards the conversations.
    private let state = Mutex(State())

    /// Creates an empty store that limits the messages per conversation.
    ///
    /// - Parameter maximumCount: The maximum number of messages per conversation, at least 1. Beyond it, the oldest
    ///   messages and their ids are removed. The default is 10,000.
    public init(maximumCount: Int = 10_000) { self.maximumCount = max(1, maximumCount) }

    /// Returns an epoch that is new in every process, since the numbers start again at 1.
    public func epoch() async throws -> String? { name }

    /// Stores a message with the next number of its conversation.
    public func append(
        _ submission: ChatSubmission, at time: Int64, upToMembers maximumMemberCount: Int
    ) -> ChatAppendResult {
        state.withLock { state in
            let key = Key(sender: ExactText(submission.sender), id: submission.id)
            if let known = state.places[key] {
                return known == ChatMessage(submission, number: known.number, time: known.time)
                    ? .known(known) : .mismatch
            }
            // The conversation is changed in place, since a copy of it would copy all its messages.
            let name = ExactText(submission.conversation)
            guard state.conversations[name, default: Conversation()].admit(submission.sender, upTo: maximumMemberCount)
            else { return .full }
            let message = state.conversations[name, default: Conversation()].append(submission, at: time)
            state.places[key] = message
            let removed = state.conversations[name, default: Conversation()].removeOldest(beyond: maximumCount)
            for message in removed { state.places[Key(sender: ExactText(message.sender), id: message.id)] = nil }
            return .stored(message)
        }
    }

    /// Moves the mark of a member forward.
    public func mark(
        _ mark: ChatMark, in conversation: String, upToMembers maximumMemberCount: Int
    ) -> ChatMarkResult {
        state.withLock { state in
            var found = state.conversations[ExactText(conversation)] ?? Conversation()
            guard found.admit(mark.member, upTo: maximumMemberCount), let old = found.marks[ExactText(mark.member)]
            else {
                return .full
            }
            let new = old.advanced(by: mark, upTo: found.last)
            found.marks[ExactText(mark.member)] = new
            state.conversations[ExactText(conversation)] = found
            return new == old ? .unchanged(old) : .moved(new)
        }
    }

    /// Removes a member and the member's mark.
    public func remove(member: String, from conversation: String) {
        state.withLock { $0.conversations[ExactText(conversation)]?.marks[ExactText(member)] = nil }
    }

    /// Returns messages of a conversation, and the marks of its members.
    public func page(
        of conversation: String, _ range: ChatRange, upTo maximumCount: Int, upToMembers maximumMemberCount: Int
    ) -> ChatPage {
        state.withLock { state in
            let found = state.conversations[ExactText(conversation)] ?? Conversation()
            let start =
                switch range {
                case .latest: found.last - Int64(maximumCount) + 1
                case .after(let number): number + 1
                case .before(let number): number - Int64(maximumCount)
                }
            var messages = found.messages(from: start, upTo: maximumCount)
            if case .before(let number) = range { messages.removeAll { $0.number >= number } }
            return ChatPage(
                messages: messages, first: found.first, last: found.last,
                marks: found.marks.sorted { $0.key < $1.key }.prefix(maximumMemberCount).map(\.value))
        }
    }

    /// Returns the first messages of a conversation that were not recorded as published.
    public func unpublished(in conversation: String, upTo maximumCount: Int) -> [ChatMessage] {
        state.withLock { state in
            guard let found = state.conversations[ExactText(conversation)] else { return [] }
            return found.messages(from: found.published + 1, upTo: maximumCount)
        }
    }

    /// Records that the messages of a conversation up to a number have been published.
    public func setPublished(through number: Int64, in conversation: String) {
        state.withLock { state in
            let published = state.conversations[ExactText(conversation)]?.published ?? 0
            state.conversations[ExactText(conversation)]?.published = max(published, number)
        }
    }

    /// Returns conversations that have unpublished messages.
    public func unpublishedConversations(upTo maximumCount: Int) -> [String] {
        state.withLock { state in
            let names = state.conversations.filter { $0.value.published < $0.value.last }.keys.sorted()
            return names.prefix(maximumCount).map(\.text)
        }
    }
}

extension MemoryChatStore.Conversation {
    fileprivate mutating func append(_ submission: ChatSubmission, at time: Int64) -> ChatMessage {
        last += 1
        let message = ChatMessage(submission, number: last, time: time)
        messages.append(message)
        return message
    }

    /// Removes and returns the oldest messages. Removes a tenth at a time, since each removal moves the remaining
    /// messages.
    fileprivate mutating func removeOldest(beyond maximumCount: Int) -> [ChatMessage] {
        guard messages.count > maximumCount + maximumCount / 10 else { return [] }
        let removed = Array(messages.prefix(messages.count - maximumCount))
        messages.removeFirst(removed.count)
        return removed
    }

    /// Adds a member. Returns `false` if the member is new and the conversation is full.
    fileprivate mutating func admit(_ member: String, upTo maximumCount: Int) -> Bool {
        if marks[ExactText(member)] != nil { return true }
        guard marks.count < maximumCount else { return false }
        marks[ExactText(member)] = ChatMark(member: member)
        return true
    }
}
