public import Foundation
import Runway
import Synchronization

/// Stores conversations until the app ends.
public final class MemoryChatStateStore: ChatStateStore {
    /// Guards the states by conversation.
    private let states = Mutex<[String: ChatState]>([:])

    /// Starts without conversations.
    public init() {}

    /// Returns the state of a conversation; `nil` if there is none.
    public func state(of conversation: String) -> ChatState? { states.withLock { $0[conversation] } }

    /// Stores the states of conversations.
    public func store(_ states: [String: ChatState]) { self.states.withLock { $0.merge(states) { $1 } } }
}

/// Stores each conversation in a file of a folder, so that an app that starts again shows it at once.
///
/// A file is replaced at once, never changed in place, and survives the end of the app and a loss of power when
/// ``store(_:)`` returns. A file that can't be read counts as absent: the conversation is fetched from the server.
///
/// Only the user can read the folder and its files. On Apple's systems they can be read as soon as the device was
/// unlocked once, and are excluded from backups.
///
/// Use a folder for each account, and remove it at the sign-out, after `ChatClient.stop()` and
/// `await ChatClient.flush()`: a state that is being stored would create the folder again.
public final class FileChatStateStore: ChatStateStore {
    private let folder: URL
    private let queue = DispatchQueue(label: "runway.chat")

    /// Stores conversations in a folder, which is created at the first use.
    ///
    /// - Parameter folder: The folder, which has no other files. Other users lose the access to it.
    public init(folder: URL) { self.folder = folder }

    /// Returns the state of a conversation; `nil` if there is none, or if it can't be read.
    public func state(of conversation: String) async -> ChatState? {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                let data = try? Data(contentsOf: file(of: conversation))
                continuation.resume(returning: data.flatMap { try? JSONDecoder().decode(ChatState.self, from: $0) })
            }
        }
    }

    /// Stores the states of conversations.
    ///
    /// - Throws: The error of the file system. The former files stay.
    public func store(_ states: [String: ChatState]) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            queue.async { [self] in
                continuation.resume(
                    with: Result { for (conversation, state) in states { try write(state, of: conversation) } })
            }
        }
    }

    private func write(_ state: ChatState, of conversation: String) throws {
        try StateFolder.prepare(folder)
        try PrivateFile.replace(file(of: conversation).path, with: Array(JSONEncoder().encode(state)))
    }

    /// The name is in hexadecimal digits, since file systems differ in the characters and cases that they tell apart.
    private func file(of conversation: String) -> URL {
        let digits = conversation.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        return folder.appending(path: digits + ".chat")
    }
}
