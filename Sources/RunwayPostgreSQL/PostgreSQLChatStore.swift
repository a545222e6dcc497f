#if PostgreSQL
    import Foundation
    public import RunwayFormats
    public import RunwayServer

    /// Stores conversations in PostgreSQL, for any number of server processes.
    ///
    /// ```swift
    /// let store = try await PostgreSQLChatStore(at: "postgres://chat@db.example.com/chat")
    /// let log = try await PostgreSQLEventLog(at: "postgres://chat@db.example.com/chat", name: "chat")
    /// let chat = ChatService(store: store, hub: try await EventHub(name: "chat", log: log))
    /// ```
    ///
    /// The store requires the package trait `PostgreSQL`, like ``PostgreSQLActionLogSink``. A sender locks the row of
    /// the conversation until the commit. The numbers therefore have no gap and become visible in their order.
    /// Conversations do not wait for each other.
    public final class PostgreSQLChatStore: ChatStore {
        private let tenant: String
        private let pool: PostgreSQLPool
        private let name: String

        /// Connects, and creates the tables if they do not exist.
        ///
        /// - Parameters:
        ///   - url: The connection string or URL of the database, in libpq's format.
        ///   - tenant: Separates the data of several apps in one database; the first column of all keys. The default is
        ///     `default`.
        ///   - connectionCount: The maximum number of connections. The default is 4.
        /// - Throws: ``PostgreSQLError``.
        public init(at url: String, tenant: String = "default", connectionCount: Int = 4) async throws {
            self.tenant = tenant
            pool = PostgreSQLPool(url, connectionCount: connectionCount)
            try await pool.create(ChatStatements.tables)
            name = try await pool.transaction(for: "") { connection throws(PostgreSQLError) in
                try connection.run(ChatStatements.nameNumbering, [tenant, EventLogRange.newEpoch()])
                return try connection.run(ChatStatements.epoch, [tenant]).first?[0] ?? ""
            }
        }

        /// Begins a new epoch for the message numbers of a tenant. Call it after its database was restored from a
        /// backup: clients then fetch their conversations again. Otherwise, they would mistake new messages for lost
        /// ones with the same numbers.
        ///
        /// Call the function once after the restore, before servers start: an open store continues with the old epoch.
        ///
        /// - Returns: The new epoch.
        /// - Throws: ``PostgreSQLError``.
        @discardableResult
        public static func beginEpoch(at url: String, tenant: String = "default") async throws -> String {
            let pool = PostgreSQLPool(url, connectionCount: 1)
            try await pool.create(ChatStatements.tables)
            let epoch = EventLogRange.newEpoch()
            try await pool.transaction(for: "") { connection throws(PostgreSQLError) in
                _ = try connection.run(ChatStatements.beginEpoch, [tenant, epoch])
            }
            return epoch
        }

        /// Returns the epoch, which identifies the tenant's message numbering.
        public func epoch() async throws -> String? { name }

        /// Stores a message with the next number of its conversation.
        ///
        /// - Throws: `StoreRefusal.busy` if too many transactions are pending; ``PostgreSQLError``.
        public func append(
            _ submission: ChatSubmission, at time: Int64, upToMembers maximumMemberCount: Int
        ) async throws -> ChatAppendResult {
            try await run(submission.conversation) { tables throws(PostgreSQLError) in
                try tables.append(submission, at: time, upToMembers: maximumMemberCount)
            }
        }

        /// Moves a member's mark forward. The mark states how far the member has received and read messages.
        public func mark(
            _ mark: ChatMark, in conversation: String, upToMembers maximumMemberCount: Int
        ) async throws -> ChatMarkResult {
            try await run(conversation) { tables throws(PostgreSQLError) in
                try tables.mark(mark, upToMembers: maximumMemberCount)
            }
        }

        /// Removes a member and the member's mark.
        public func remove(member: String, from conversation: String) async throws {
            try await run(conversation) { tables throws(PostgreSQLError) in
                // Waits for messages that are being stored, since they could add the member again.
                _ = try tables.place(ChatStatements.lockedPlace)
                try tables.connection.run(ChatStatements.leave, tables.key + [member])
            }
        }

        /// Returns messages of a conversation, and the marks of its members.
        public func page(
            of conversation: String, _ range: ChatRange, upTo maximumCount: Int, upToMembers maximumMemberCount: Int
        ) async throws -> ChatPage {
            try await run(conversation) { tables throws(PostgreSQLError) in
                try tables.page(range, upTo: maximumCount, upToMembers: maximumMemberCount)
            }
        }

        /// Returns a conversation's first messages that were not recorded as published.
        public func unpublished(in conversation: String, upTo maximumCount: Int) async throws -> [ChatMessage] {
            try await run(conversation) { tables throws(PostgreSQLError) in
                let place = try tables.place(ChatStatements.place)
                return try tables.messages(from: place.published + 1, to: place.last, maximumCount)
            }
        }

        /// Records that the messages of a conversation up to a number have been published.
        public func setPublished(through number: Int64, in conversation: String) async throws {
            try await run(conversation) { tables throws(PostgreSQLError) in
                _ = try tables.connection.run(ChatStatements.publish, tables.key + ["\(number)"])
            }
        }

        /// Returns conversations that have unpublished messages.
        public func unpublishedConversations(upTo maximumCount: Int) async throws -> [String] {
            try await pool.transaction(for: "") { [tenant] connection throws(PostgreSQLError) in
                try connection.run(ChatStatements.toPublish, [tenant, "\(maximumCount)"]).compactMap { $0[0] }
            }
        }

        private func run<Value: Sendable>(
            _ conversation: String, _ body: @escaping @Sendable (Tables) throws(PostgreSQLError) -> Value
        ) async throws -> Value {
            try await pool.transaction(for: conversation) { [tenant] connection throws(PostgreSQLError) in
                try body(Tables(connection: connection, tenant: tenant, conversation: conversation))
            }
        }
    }

    extension PostgreSQLChatStore {
        /// Accesses the tables of one conversation within a transaction.
        fileprivate struct Tables {
            let connection: PostgreSQLConnection
            let tenant: String
            let conversation: String

            var key: [String] { [tenant, conversation] }

            func append(
                _ submission: ChatSubmission, at time: Int64, upToMembers maximumMemberCount: Int
            ) throws(PostgreSQLError) -> ChatAppendResult {
                let id = [tenant, submission.sender, submission.id.uuidString]
                // Waits for another transaction with the same message id. All transactions lock the id before the
                // conversation, which prevents deadlocks.
                if try connection.run(ChatStatements.claim, id + [conversation]).isEmpty {
                    let row = try connection.run(ChatStatements.claimed, id).first
                    let number = row?[1].flatMap { Int64($0) } ?? 0
                    let other = Tables(connection: connection, tenant: tenant, conversation: row?[0] ?? "")
                    guard let known = try other.messages(from: number, to: number, 1).first,
                        known == ChatMessage(submission, number: number, time: known.time)
                    else { return .mismatch }
                    return .known(known)
                }
                guard try admit(submission.sender, upTo: maximumMemberCount) else {
                    try connection.run(ChatStatements.release, id)
                    return .full
                }
                let number = try connection.run(ChatStatements.nextNumber, key).first?[0].flatMap { Int64($0) } ?? 0
                try connection.run(
                    ChatStatements.insert,
                    key + ["\(number)", submission.sender, submission.id.uuidString, submission.text, "\(time)"])
                try connection.run(ChatStatements.numbered, id + ["\(number)"])
                return .stored(ChatMessage(submission, number: number, time: time))
            }

            func mark(
                _ mark: ChatMark, upToMembers maximumMemberCount: Int
            ) throws(PostgreSQLError) -> ChatMarkResult {
                guard try admit(mark.member, upTo: maximumMemberCount) else { return .full }
                let row = try connection.run(ChatStatements.member, key + [mark.member]).first
                let old = row.map(Self.mark) ?? ChatMark(member: mark.member)
                let new = old.advanced(by: mark, upTo: try place(ChatStatements.place).last)
                if new == old { return .unchanged(old) }
                try connection.run(ChatStatements.mark, key + [mark.member, "\(new.delivered)", "\(new.read)"])
                return .moved(new)
            }

            func page(
                _ range: ChatRange, upTo maximumCount: Int, upToMembers maximumMemberCount: Int
            ) throws(PostgreSQLError) -> ChatPage {
                try connection.run(ChatStatements.readOneMoment)
                let last = try place(ChatStatements.place).last
                let numbers: (Int64, Int64) =
                    switch range {
                    case .latest: (last - Int64(maximumCount) + 1, last)
                    case .after(let number): (min(number, last) + 1, last)
                    case .before(let number): (max(number, 0) - Int64(maximumCount), min(max(number, 0) - 1, last))
                    }
                let messages = try messages(from: numbers.0, to: numbers.1, maximumCount)
                let first = try connection.run(ChatStatements.first, key).first?[0].flatMap { Int64($0) }
                let marks = try connection.run(ChatStatements.members, key + ["\(maximumMemberCount)"]).map(Self.mark)
                return ChatPage(messages: messages, first: first ?? last + 1, last: last, marks: marks)
            }

            func place(_ statement: String) throws(PostgreSQLError) -> (last: Int64, published: Int64) {
                let row = try connection.run(statement, key).first
                return (row?[0].flatMap { Int64($0) } ?? 0, row?[1].flatMap { Int64($0) } ?? 0)
            }

            func messages(
                from first: Int64, to last: Int64, _ maximumCount: Int
            ) throws(PostgreSQLError) -> [ChatMessage] {
                let rows = try connection.run(
                    ChatStatements.messages, key + ["\(first)", "\(last)", "\(maximumCount)"])
                return rows.compactMap { row in
                    guard let number = row[1].flatMap({ Int64($0) }), let id = row[3].flatMap({ UUID(uuidString: $0) }),
                        let time = row[5].flatMap({ Int64($0) })
                    else { return nil }
                    let submission = ChatSubmission(
                        conversation: row[0] ?? "", sender: row[2] ?? "", id: id, text: row[4] ?? "")
                    return ChatMessage(submission, number: number, time: time)
                }
            }

            /// Locks the conversation and adds a member. Returns `false` if the member is new and the conversation is
            /// full.
            private func admit(_ member: String, upTo maximumCount: Int) throws(PostgreSQLError) -> Bool {
                try connection.run(ChatStatements.begin, key)
                _ = try place(ChatStatements.lockedPlace)
                if try !connection.run(ChatStatements.member, key + [member]).isEmpty { return true }
                let counted = try connection.run(ChatStatements.memberCount, key + ["\(maximumCount)"]).first
                let count = counted?[0].flatMap { Int($0) } ?? 0
                guard count < maximumCount else { return false }
                try connection.run(ChatStatements.join, key + [member])
                return true
            }

            private static func mark(_ row: [String?]) -> ChatMark {
                ChatMark(
                    member: row[0] ?? "", delivered: row[1].flatMap { Int64($0) } ?? 0,
                    read: row[2].flatMap { Int64($0) } ?? 0)
            }
        }
    }
#endif
