public import Foundation
import GRDB
public import RunwayFormats
public import RunwayServer

/// Stores conversations in a SQLite file, for one process.
///
/// ```swift
/// let chat = ChatService(store: try SQLiteChatStore(at: file), hub: hub)
/// ```
///
/// A message is on the drive when it is acknowledged: it survives `kill -9` and a power loss. Messages that several
/// members send at the same time share transactions. Messages are never removed.
public final class SQLiteChatStore: ChatStore {
    private enum Request: Sendable {
        case append(ChatSubmission, time: Int64, maximumMemberCount: Int)
        case mark(ChatMark, String, maximumMemberCount: Int)
        case remove(member: String, String)
        case page(String, ChatRange, Int, maximumMemberCount: Int)
        case unpublished(String, Int)
        case published(String, Int64)
        case conversations(Int)
    }

    private enum Result: Sendable {
        case appended(ChatAppendResult)
        case marked(ChatMarkResult)
        case page(ChatPage)
        case messages([ChatMessage])
        case conversations([String])
        case done
    }

    /// The assumed size of a message in a page, for the limits of `ActionLogWriterLimits`: a quarter of the longest
    /// text of the default limits, since few messages are that long. A transaction with the default of 8 MiB reads at
    /// most 32 MiB of text.
    private static let pageMessageByteCount = 4 << 10

    private let database: ServerDatabase
    private let writer: GroupCommit<Request, Result>
    private let name: String

    /// Opens a file, or creates it so that only its user can read it. The initializer blocks.
    ///
    /// - Parameters:
    ///   - file: The SQLite file.
    ///   - limits: Limits for pending requests and for requests that are committed together.
    /// - Throws: ``ServerStorageError``.
    public init(
        at file: URL, limits: ActionLogWriterLimits = ActionLogWriterLimits()
    ) throws(ServerStorageError) {
        let database = try ServerDatabase(at: file, ChatTables.schema, waitsForDrive: limits.survivesPowerLoss)
        self.database = database
        name = try database.write { try ChatTables(database: $0).epoch() }
        writer = GroupCommit(label: "runway.chat", limits: limits.queue) { requests in
            try database.write { database in try requests.map { try Self.perform($0, in: database) } }
        }
    }

    /// Begins a new epoch in a file that was restored from a backup: clients then fetch their conversations again.
    /// Otherwise, they would mistake new messages for lost ones with the same numbers. Blocks.
    ///
    /// Call the function once after the restore, before the file is opened.
    ///
    /// - Returns: The new epoch.
    /// - Throws: ``ServerStorageError``: ``ServerStorageError/Kind/missing`` if the file does not exist,
    ///   ``ServerStorageError/Kind/foreign`` for a file with other contents, ``ServerStorageError/Kind/locked`` if a
    ///   server uses it.
    @discardableResult
    public static func beginEpoch(at file: URL) throws(ServerStorageError) -> String {
        try ServerStorageError.checkExists(file)
        let database = try ServerDatabase(at: file, ChatTables.schema, waitsForDrive: true)
        let epoch = try database.write { try ChatTables(database: $0).beginEpoch() }
        try database.close()
        return epoch
    }

    /// Returns the epoch, which identifies the file's message numbering.
    public func epoch() async throws -> String? { name }

    /// Stores a message with the next number of its conversation.
    ///
    /// - Throws: `StoreRefusal.busy` if too many requests are pending, ``ServerStorageError`` if the file cannot be
    ///   written.
    public func append(
        _ submission: ChatSubmission, at time: Int64, upToMembers maximumMemberCount: Int
    ) async throws -> ChatAppendResult {
        let request = Request.append(submission, time: time, maximumMemberCount: maximumMemberCount)
        guard case .appended(let result) = try await perform(request, submission.text.utf8.count) else {
            throw CancellationError()
        }
        return result
    }

    /// Moves a member's mark forward. The mark states how far the member has received and read messages.
    public func mark(
        _ mark: ChatMark, in conversation: String, upToMembers maximumMemberCount: Int
    ) async throws -> ChatMarkResult {
        let request = Request.mark(mark, conversation, maximumMemberCount: maximumMemberCount)
        guard case .marked(let result) = try await perform(request) else { throw CancellationError() }
        return result
    }

    /// Removes a member and the member's mark.
    public func remove(member: String, from conversation: String) async throws {
        _ = try await perform(.remove(member: member, conversation))
    }

    /// Returns messages of a conversation, and the marks of its members.
    public func page(
        of conversation: String, _ range: ChatRange, upTo maximumCount: Int, upToMembers maximumMemberCount: Int
    ) async throws -> ChatPage {
        let request = Request.page(conversation, range, maximumCount, maximumMemberCount: maximumMemberCount)
        let byteCount = maximumCount * Self.pageMessageByteCount
        guard case .page(let page) = try await perform(request, byteCount) else { throw CancellationError() }
        return page
    }

    /// Returns a conversation's first messages that were not recorded as published.
    public func unpublished(in conversation: String, upTo maximumCount: Int) async throws -> [ChatMessage] {
        guard case .messages(let messages) = try await perform(.unpublished(conversation, maximumCount)) else {
            throw CancellationError()
        }
        return messages
    }

    /// Records that the messages of a conversation up to `number` have been published.
    public func setPublished(through number: Int64, in conversation: String) async throws {
        _ = try await perform(.published(conversation, number))
    }

    /// Returns conversations that have unpublished messages.
    public func unpublishedConversations(upTo maximumCount: Int) async throws -> [String] {
        guard case .conversations(let names) = try await perform(.conversations(maximumCount)) else {
            throw CancellationError()
        }
        return names
    }

    /// Performs the pending requests, and closes the file. Later requests are refused.
    ///
    /// - Throws: ``ServerStorageError``.
    public func close() async throws {
        await writer.close()
        try database.close()
    }

    private func perform(_ request: Request, _ byteCount: Int = 0) async throws -> Result {
        try await writer.commit(request, byteCount: 256 + byteCount)
    }

    private static func perform(_ request: Request, in database: Database) throws -> Result {
        let tables = ChatTables(database: database)
        switch request {
        case .append(let submission, let time, let maximumMemberCount):
            return .appended(try tables.append(submission, at: time, upToMembers: maximumMemberCount))
        case .mark(let mark, let conversation, let maximumMemberCount):
            return .marked(try tables.mark(mark, in: conversation, upToMembers: maximumMemberCount))
        case .remove(let member, let conversation):
            try tables.remove(member: member, from: conversation)
            return .done
        case .page(let conversation, let range, let count, let maximumMemberCount):
            return .page(try tables.page(of: conversation, range, upTo: count, upToMembers: maximumMemberCount))
        case .unpublished(let conversation, let count):
            return .messages(try tables.unpublished(in: conversation, upTo: count))
        case .published(let conversation, let number):
            try tables.setPublished(through: number, in: conversation)
            return .done
        case .conversations(let count): return .conversations(try tables.unpublishedConversations(upTo: count))
        }
    }
}
