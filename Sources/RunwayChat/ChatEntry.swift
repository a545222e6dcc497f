public import Foundation
import RunwayFormats

/// One line of a conversation on a screen: a message, which the server may not have stored yet.
public struct ChatEntry: Sendable, Hashable, Identifiable {
    /// The identifier of an entry. It does not change when the server stores the message.
    public struct ID: Sendable, Hashable {
        /// The name of the member who sent the message.
        public let sender: String
        /// The id that the sender's client chose for the message.
        public let message: UUID

        /// Returns whether two ids are equal. Senders are compared byte by byte.
        public static func == (one: ID, other: ID) -> Bool {
            one.message == other.message && MemberName(one.sender) == MemberName(other.sender)
        }

        /// Hashes the bytes of the sender's name, and the message id.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(MemberName(sender))
            hasher.combine(message)
        }
    }

    /// The state of a message. Later versions may add states.
    public struct State: Sendable, Hashable, CustomStringConvertible {
        private enum Code: String { case received, pending, queued, failed, sent, delivered, read }

        private let code: Code

        /// The name of the state. It does not change between releases.
        public var description: String { code.rawValue }

        /// Another member sent the message.
        public static let received = State(code: .received)
        /// The message waits until the stream has caught up. Then the client sends it.
        public static let pending = State(code: .pending)
        /// The offline queue of the layer has the message, and sends it later.
        public static let queued = State(code: .queued)
        /// The server refused the message; see ``ChatEntry/reason``.
        public static let failed = State(code: .failed)
        /// The server has stored the message.
        public static let sent = State(code: .sent)
        /// A device of another member has received the message.
        public static let delivered = State(code: .delivered)
        /// Another member has read the message.
        public static let read = State(code: .read)
    }

    /// The identifier of the entry, which stays the same when the server stores the message.
    public let id: ID
    /// The number of the message in the conversation; `nil` until the server has stored it.
    public let number: Int64?
    /// The text of the message.
    public let text: String
    /// The date at which the server stored the message. Until then, the date at which the member wrote it.
    public let date: Date
    /// The state of the message.
    public let state: State
    /// The reason why the server refused the message, in one sentence; empty if the server did not refuse it.
    public let reason: String

    /// The name of the member who sent the message.
    public var sender: String { id.sender }
}

extension ChatMachine {
    /// The entries to show: stored messages by number, then messages that the server has not stored yet.
    var entries: [ChatEntry] {
        let others = marks.all.filter { $0.key != MemberName(member) }.values
        let (delivered, read) = (others.map(\.delivered).max() ?? 0, others.map(\.read).max() ?? 0)
        let messages = window.messages.map { message in
            let state: ChatEntry.State =
                if !message.isFrom(member) {
                    .received
                } else if message.number <= read {
                    .read
                } else if message.number <= delivered {
                    .delivered
                } else {
                    .sent
                }
            return ChatEntry(
                id: .init(sender: message.sender, message: message.id), number: message.number, text: message.text,
                date: message.date, state: state, reason: "")
        }
        return messages + outbox.drafts.map(entry)
    }

    private func entry(_ draft: ChatDraft) -> ChatEntry {
        var (state, number, reason) = (ChatEntry.State.pending, nil as Int64?, "")
        switch draft.state {
        case .waiting, .sending: break
        case .queued: state = .queued
        case .failed(let text): (state, reason) = (.failed, text)
        case .stored(let stored): (state, number) = (.sent, stored)
        }
        return ChatEntry(
            id: .init(sender: member, message: draft.id), number: number, text: draft.text, date: draft.date,
            state: state, reason: reason)
    }
}
