import Foundation
import GRDB
import RunwayFormats
import RunwaySQLite
import RunwayServer

/// Accesses the tables of conversations within a transaction.
struct ChatTables {
    /// `last` and `published` are message numbers. A message is found by its number, or by its sender and id.
    static let schema = ServerDatabase.Schema(
        applicationID: 0x5257_4348,
        tables: """
            CREATE TABLE conversation (name TEXT PRIMARY KEY, last INTEGER NOT NULL, published INTEGER NOT NULL) WITHOUT ROWID;
            CREATE INDEX conversation_to_publish ON conversation (name) WHERE published < last;
            CREATE TABLE message (conversation TEXT NOT NULL, number INTEGER NOT NULL, sender TEXT NOT NULL, id BLOB NOT NULL,
                text TEXT NOT NULL, time INTEGER NOT NULL, UNIQUE (conversation, number), UNIQUE (sender, id));
            CREATE TABLE member (conversation TEXT NOT NULL, name TEXT NOT NULL, delivered INTEGER NOT NULL,
                read INTEGER NOT NULL, PRIMARY KEY (conversation, name)) WITHOUT ROWID;
            """,
        migrations: [
            "CREATE TABLE numbering (epoch TEXT NOT NULL); INSERT INTO numbering VALUES (lower(hex(randomblob(8))))"
        ])

    /// The maximum message number. No conversation reaches it: a greater number is damaged, and could overflow.
    private static let maximumNumber = Int64(1) << 53

    private static let columns = "conversation, number, sender, id, text, time"

    let database: Database

    /// Returns the epoch, which identifies the numbering of all messages.
    func epoch() throws -> String {
        guard let epoch = try String.fetchOne(database, sql: "SELECT epoch FROM numbering"),
            EventID.isEpoch(epoch)
        else { throw ServerStorageError(.corrupted, "The epoch of the file is missing or damaged.") }
        return epoch
    }

    func beginEpoch() throws -> String {
        let epoch = EventLogRange.newEpoch()
        try database.execute(sql: "UPDATE numbering SET epoch = ?", arguments: [epoch])
        return epoch
    }

    func append(
        _ submission: ChatSubmission, at time: Int64, upToMembers maximumMemberCount: Int
    ) throws -> ChatAppendResult {
        let known = try Row.fetchOne(
            database.cachedStatement(sql: "SELECT \(Self.columns) FROM message WHERE sender = ? AND id = ?"),
            arguments: [submission.sender, submission.id.data])
        if let known = try known.map(Self.message) {
            let same = ChatMessage(submission, number: known.number, time: known.time)
            return known == same ? .known(known) : .mismatch
        }
        guard try admit(submission.sender, to: submission.conversation, upTo: maximumMemberCount) else { return .full }
        let number = try Int64.fetchOne(
            database.cachedStatement(sql: "UPDATE conversation SET last = last + 1 WHERE name = ? RETURNING last"),
            arguments: [submission.conversation])
        guard let number else { throw ServerStorageError(.corrupted, "A row of the file is missing.") }
        try Self.check(number, in: 1...Self.maximumNumber)
        try database.cachedStatement(sql: "INSERT INTO message (\(Self.columns)) VALUES (?, ?, ?, ?, ?, ?)").execute(
            arguments: [
                submission.conversation, number, submission.sender, submission.id.data, submission.text, time,
            ])
        return .stored(ChatMessage(submission, number: number, time: time))
    }

    func mark(
        _ mark: ChatMark, in conversation: String, upToMembers maximumMemberCount: Int
    ) throws -> ChatMarkResult {
        guard try admit(mark.member, to: conversation, upTo: maximumMemberCount) else { return .full }
        let row = try Row.fetchOne(
            database.cachedStatement(
                sql: "SELECT name, delivered, read FROM member WHERE conversation = ? AND name = ?"),
            arguments: [conversation, mark.member])
        guard let old = try row.map(Self.mark) else {
            throw ServerStorageError(.corrupted, "A row of the file is missing.")
        }
        let new = old.advanced(by: mark, upTo: try place(of: conversation).last)
        if new == old { return .unchanged(old) }
        try database.cachedStatement(
            sql: "UPDATE member SET delivered = ?, read = ? WHERE conversation = ? AND name = ?"
        ).execute(arguments: [new.delivered, new.read, conversation, mark.member])
        return .moved(new)
    }

    func remove(member: String, from conversation: String) throws {
        try database.cachedStatement(sql: "DELETE FROM member WHERE conversation = ? AND name = ?").execute(
            arguments: [conversation, member])
    }

    func page(
        of conversation: String, _ range: ChatRange, upTo maximumCount: Int, upToMembers maximumMemberCount: Int
    ) throws -> ChatPage {
        let last = try place(of: conversation).last
        let bounds = 0...Self.maximumNumber
        let messages =
            switch range {
            case .latest: try messages(of: conversation, from: last - Int64(maximumCount) + 1, to: last, maximumCount)
            case .after(let number):
                try messages(of: conversation, from: number.clamped(to: bounds) + 1, to: last, maximumCount)
            case .before(let number):
                try messages(before: number.clamped(to: bounds), of: conversation, maximumCount)
            }
        let first = try Int64.fetchOne(
            database.cachedStatement(sql: "SELECT MIN(number) FROM message WHERE conversation = ?"),
            arguments: [conversation])
        if let first { try Self.check(first, in: 1...max(1, last)) }
        let rows = try Row.fetchAll(
            database.cachedStatement(
                sql: "SELECT name, delivered, read FROM member WHERE conversation = ? ORDER BY name LIMIT ?"),
            arguments: [conversation, maximumMemberCount])
        return ChatPage(messages: messages, first: first ?? last + 1, last: last, marks: try rows.map(Self.mark))
    }

    func unpublished(in conversation: String, upTo maximumCount: Int) throws -> [ChatMessage] {
        let place = try place(of: conversation)
        return try messages(of: conversation, from: place.published + 1, to: place.last, maximumCount)
    }

    func setPublished(through number: Int64, in conversation: String) throws {
        try database.cachedStatement(sql: "UPDATE conversation SET published = max(published, ?) WHERE name = ?")
            .execute(
                arguments: [number, conversation])
    }

    func unpublishedConversations(upTo maximumCount: Int) throws -> [String] {
        try String.fetchAll(
            database.cachedStatement(
                sql: "SELECT name FROM conversation WHERE published < last ORDER BY name LIMIT ?"),
            arguments: [maximumCount])
    }

    /// Adds a member, and creates the conversation for its first member. Returns `false` if the member is new and the
    /// conversation is full.
    private func admit(_ member: String, to conversation: String, upTo maximumCount: Int) throws -> Bool {
        let isKnown = try Bool.fetchOne(
            database.cachedStatement(sql: "SELECT 1 FROM member WHERE conversation = ? AND name = ?"),
            arguments: [conversation, member])
        if isKnown != nil { return true }
        let count = try Int.fetchOne(
            database.cachedStatement(
                sql: "SELECT count(*) FROM (SELECT 1 FROM member WHERE conversation = ? LIMIT ?)"),
            arguments: [conversation, maximumCount])
        guard (count ?? 0) < maximumCount else { return false }
        try database.cachedStatement(sql: "INSERT INTO conversation VALUES (?, 0, 0) ON CONFLICT DO NOTHING").execute(
            arguments: [conversation])
        try database.cachedStatement(sql: "INSERT INTO member VALUES (?, ?, 0, 0)").execute(
            arguments: [conversation, member])
        return true
    }

    private func place(of conversation: String) throws -> (last: Int64, published: Int64) {
        let row = try Row.fetchOne(
            database.cachedStatement(sql: "SELECT last, published FROM conversation WHERE name = ?"),
            arguments: [conversation])
        guard let row else { return (0, 0) }
        let place: (last: Int64, published: Int64) = (try row.value(0), try row.value(1))
        try Self.check(place.last, in: 0...Self.maximumNumber)
        try Self.check(place.published, in: 0...Self.maximumNumber)
        return place
    }

    private func messages(
        before end: Int64, of conversation: String, _ maximumCount: Int
    ) throws -> [ChatMessage] {
        try messages(of: conversation, from: end - Int64(maximumCount), to: end - 1, maximumCount)
    }

    private func messages(
        of conversation: String, from first: Int64, to last: Int64, _ maximumCount: Int
    ) throws -> [ChatMessage] {
        try Row.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT \(Self.columns) FROM message WHERE conversation = ? AND number BETWEEN ? AND ?
                    ORDER BY number LIMIT ?
                    """),
            arguments: [conversation, first, last, maximumCount]
        ).map(Self.message)
    }

    private static func message(_ row: Row) throws -> ChatMessage {
        let submission = ChatSubmission(
            conversation: try row.value(0), sender: try row.value(2), id: try row.value(3), text: try row.value(4))
        let number: Int64 = try row.value(1)
        try check(number, in: 1...maximumNumber)
        return ChatMessage(submission, number: number, time: try row.value(5))
    }

    private static func mark(_ row: Row) throws -> ChatMark {
        let mark = ChatMark(member: try row.value(0), delivered: try row.value(1), read: try row.value(2))
        for number in [mark.delivered, mark.read] { try check(number, in: 0...maximumNumber) }
        return mark
    }

    private static func check(_ number: Int64, in range: ClosedRange<Int64>) throws {
        guard range.contains(number) else { throw ServerStorageError(.corrupted, "A number of the file is wrong.") }
    }
}

extension Int64 {
    fileprivate func clamped(to range: ClosedRange<Int64>) -> Int64 {
        Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}
