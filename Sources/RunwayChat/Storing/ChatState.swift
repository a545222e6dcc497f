import Foundation
import RunwayFormats

/// The state of one conversation that a client stores, so that the app can show it at once after the next start.
public struct ChatState: Sendable, Hashable, Codable {
    var messages: [ShownMessage] = []
    /// The number at which the messages begin.
    var first: Int64 = 1
    /// The number up to which every message has arrived; `nil` before the first page.
    var last: Int64?
    var serverFirst: Int64 = 1
    var drafts: [ChatDraft] = []
    var marks: [ChatMark] = []
    var presence = ChatPresence()
    var readNumber: Int64 = 0
    /// Whether messages may be missing that no event will bring.
    var needsPage = false
    /// The server's name for the numbering of the messages; `nil` if the server named none.
    var epoch: String?
    /// The cursor of the stream up to which the conversation has received its events; empty if it is not known.
    var place = ""

    init() {}

    /// Whether the state can be one of a conversation. A damaged file may have numbers whose successor is not
    /// representable.
    var isConsistent: Bool {
        let numbers: [Int64] = [first, last ?? 0, serverFirst, readNumber] + marks.flatMap { [$0.delivered, $0.read] }
        guard numbers.allSatisfy({ ChatMessage.numbers.contains($0) }) else { return false }
        // The messages lie between the ends, in order. A message that the server stored twice is there once.
        let shown: [Int64] = [first - 1] + messages.map(\.number) + [(last ?? first - 1) + 1]
        return zip(shown, shown.dropFirst()).allSatisfy { $0 < $1 }
    }
}

extension ChatState {
    /// The state with only the drafts. All of them are sent again: the server recognises a message that it has.
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
/// ``MemoryChatStateStore`` loses them when the app ends; ``FileChatStateStore`` does not.
public protocol ChatStateStore: Sendable {
    /// Returns the state of a conversation; `nil` if it was never stored, or can't be read. If its numbers can't be
    /// those of a conversation, for example after damage to a file, the client takes only the messages that wait to be
    /// sent.
    func state(of conversation: String) async -> ChatState?
    /// Stores the states of conversations, and returns when they survive the end of the app.
    func store(_ states: [String: ChatState]) async throws
}

extension ChatStateStore {
    /// Stores states together, or else one by one: one that can't be stored does not keep the others from it.
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
