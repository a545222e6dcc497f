import Foundation
import RunwayFormats

/// The stored state of one conversation, so that the app can show it at once after the next start.
public struct ChatState: Sendable, Hashable, Codable {
    var messages: [ShownMessage] = []
    var first: Int64 = 1
    /// The number up to which every message has arrived; `nil` before the first page.
    var last: Int64?
    var serverFirst: Int64 = 1
    var drafts: [ChatDraft] = []
    var marks: [ChatMark] = []
    var presence = ChatPresence()
    var readNumber: Int64 = 0
    /// Whether messages may be missing that the stream will not deliver.
    var needsPage = false
    /// The id of the server's message numbering; `nil` if the server sent none.
    var epoch: String?
    /// The stream cursor of the last event that the conversation received; empty if it is unknown.
    var place = ""

    init() {}

    /// Whether the message numbers are valid. In a damaged file, a number may be so large that its successor overflows.
    var isConsistent: Bool {
        let numbers: [Int64] = [first, last ?? 0, serverFirst, readNumber] + marks.flatMap { [$0.delivered, $0.read] }
        guard numbers.allSatisfy({ ChatMessage.numbers.contains($0) }) else { return false }
        // The numbers of messages ascend, and lie between `first` and `last`. A message that the server stored twice
        // appears only once, so numbers may be missing.
        let shown: [Int64] = [first - 1] + messages.map(\.number) + [(last ?? first - 1) + 1]
        return zip(shown, shown.dropFirst()).allSatisfy { $0 < $1 }
    }
}

extension ChatState {
    /// A copy of this state with only the messages that wait to be sent. All are sent again, since the server
    /// recognises a message that it has stored.
    var draftsAlone: ChatState {
        var state = ChatState()
        state.drafts = drafts
        for index in state.drafts.indices {
            if case .stored = drafts[index].state { state.drafts[index].state = .waiting }
        }
        return state
    }
}

/// Stores the conversations of a client.
///
/// ``FileChatStateStore`` stores them in files. A client without a store loses them when the app ends.
public protocol ChatStateStore: Sendable {
    /// Returns the state of a conversation; `nil` if it was never stored, or can't be read. If the message numbers of
    /// the state are invalid, for example in a damaged file, the client uses only the messages that wait to be sent.
    func state(of conversation: String) async -> ChatState?
    /// Stores the states of conversations. Returns once the states will survive the end of the app.
    func store(_ states: [String: ChatState]) async throws
}

extension ChatStateStore {
    /// Stores states together. If that fails, stores them one by one, so that one failure does not affect the other
    /// states.
    ///
    /// - Returns: The conversations whose states could not be stored, and the last error.
    func storeEach(_ states: [String: ChatState]) async -> (failed: Set<String>, problem: (any Error)?) {
        do {
            try await store(states)
            return ([], nil)
        } catch {
            var (failed, problem) = (Set<String>(), nil as (any Error)?)
            for (id, state) in states {
                do { try await store([id: state]) } catch {
                    failed.insert(id)
                    problem = error
                }
            }
            return (failed, problem)
        }
    }
}
