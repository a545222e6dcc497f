public import Foundation
import Runway
import Synchronization

/// Stores conversations in memory, until the app ends.
package final class MemoryChatStateStore: ChatStateStore {
    /// Guards the states, by the name of their conversation.
    private let states = Mutex<[String: ChatState]>([:])

    /// Creates an empty store.
    package init() {}

    /// Returns the state of a conversation; `nil` if none was stored.
    package func state(of conversation: String) -> ChatState? { states.withLock { $0[conversation] } }

    /// Stores the states of conversations in memory.
    package func store(_ states: [String: ChatState]) { self.states.withLock { $0.merge(states) { $1 } } }
}

/// Stores each conversation in a file, so that the app can show it at once after the next start.
///
/// A file is replaced atomically. Once ``store(_:)`` has returned, the file survives the end of the app and a loss of
/// power. A file that can't be read counts as absent: the client fetches the conversation from the server.
///
/// Only the user can read the folder and its files. On Apple's systems they can be read once the device has been
/// unlocked after a restart, and backups exclude them.
///
/// Use one folder per account, and remove it at the sign-out, after `ChatClient.stop()` and `await ChatClient.flush()`.
/// Otherwise a state that is being stored would create the folder again.
public final class FileChatStateStore: ChatStateStore {
    private let folder: URL
    private let queue = DispatchQueue(label: "runway.chat")

    /// Creates a store in a folder. The first use creates the folder.
    ///
    /// - Parameter folder: A folder without other files. Other users lose access to it.
    public init(folder: URL) { self.folder = folder }

    /// Returns the state of a conversation; `nil` if it was never stored, or its file can't be read.
    public func state(of conversation: String) async -> ChatState? {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                let data = try? Data(contentsOf: file(of: conversation))
                continuation.resume(returning: data.flatMap { try? JSONDecoder().decode(ChatState.self, from: $0) })
            }
        }
    }

    /// Stores the states of conversations in their files.
    ///
    /// - Throws: The error of the file system. The previous files stay.
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

    /// File names are hexadecimal, since file systems differ in the characters and letter cases that they distinguish.
    private func file(of conversation: String) -> URL {
        let digits = conversation.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        return folder.appending(path: digits + ".chat")
    }
}

/// Prepares the folder of a store of conversations.
enum StateFolder {
    /// Creates a folder if it does not exist, and removes the access of other users.
    ///
    /// - Throws: The error of the file system.
    static func prepare(_ folder: URL) throws {
        let files = FileManager.default
        try files.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        // An existing folder may have other permissions.
        try files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path)
        #if canImport(Darwin)
            try PrivateFolder.protect(folder)
        #endif
    }
}
