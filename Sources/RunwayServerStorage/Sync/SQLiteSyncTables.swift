import Foundation
import GRDB
import RunwaySQLite
import RunwayServer
import RunwaySyncCore

/// The tables of one space within a transaction. SQLite has one writer, so that the transaction is the lock of the
/// space.
struct SQLiteSyncTables {
    let database: Database
    let space: Data
    let hook: SyncStore.SQLiteHook?
    private(set) var history: History
    private var logByteCount: Int64

    /// Reads the row of a space; `nil` if the space does not exist.
    init?(_ database: Database, _ space: Identifier, hook: SyncStore.SQLiteHook?) throws {
        (self.database, self.space, self.hook) = (database, Data(space.bytes), hook)
        let row = try Row.fetchOne(
            database.cachedStatement(sql: "SELECT history, total FROM runway_sync_space WHERE space = ?"),
            arguments: [self.space])
        guard let row else { return nil }
        (history, logByteCount) = (try row.decoded(0), try row.value(1))
    }

    /// Creates the space if it does not exist.
    init(creatingIn database: Database, _ space: Identifier, hook: SyncStore.SQLiteHook?) throws {
        if let tables = try Self(database, space, hook: hook) {
            self = tables
            return
        }
        (self.database, self.space, self.hook) = (database, Data(space.bytes), hook)
        (history, logByteCount) = (History(epoch: Identifier(UUID())), 0)
        try database.cachedStatement(sql: "INSERT INTO runway_sync_space VALUES (?, ?, 0)").execute(
            arguments: [self.space, Data(history.encoded())])
    }
}

extension SQLiteSyncTables: SyncTables {
    var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

    func content(for needs: SpaceNeeds) throws -> SpaceContent {
        var content = SpaceContent()
        for id in needs.devices {
            content.devices[id] = try decoded(
                "SELECT record FROM runway_sync_device WHERE space = ? AND device = ?", [id.data])
        }
        for id in needs.transactions {
            content.verdicts[id] = try decoded(
                "SELECT verdict FROM runway_sync_verdict WHERE space = ? AND id = ?", [id.data])
        }
        for key in needs.rows {
            content.rows[key] = try decoded(
                "SELECT body FROM runway_sync_row WHERE space = ? AND name = ? AND id = ?", key.arguments)
        }
        for need in needs.batches { try load(need, into: &content) }
        try loadWaiting(beside: needs.rows.union(content.rows.keys), into: &content)
        if let need = needs.entries { content.entries = try entries(need) }
        if let need = needs.page { content.page = try page(need) }
        return content
    }

    /// Loads the rows that a batch update matches. Only they stay in memory.
    private func load(_ need: SpaceNeeds.Matches, into content: inout SpaceContent) throws {
        var count = 0
        let needle = need.batch.needle.map { Data($0) }
        let rows = try Row.fetchCursor(
            database.cachedStatement(
                sql: """
                    SELECT id, body FROM runway_sync_row WHERE space = ? AND name = ? AND life % 2 = 1
                    AND (? IS NULL OR instr(body, ?))
                    """),
            arguments: [space, need.batch.table, needle, needle])
        while count < need.limit, let stored = try rows.next() {
            let row: RunwaySyncCore.Row = try stored.decoded(1)
            guard need.batch.matches(row) else { continue }
            content.rows[RowKey(need.batch.table, try stored.identifier(0))] = row
            count += 1
        }
    }

    /// Loads the operations that wait beside rows. Mostly there are none in a space.
    private func loadWaiting(beside keys: Set<RowKey>, into content: inout SpaceContent) throws {
        let isSome = try Bool.fetchOne(
            database.cachedStatement(sql: "SELECT 1 FROM runway_sync_waiting WHERE space = ? LIMIT 1"),
            arguments: [space])
        guard isSome != nil else { return }
        for key in keys {
            let list: WaitingList? = try decoded(
                "SELECT operations FROM runway_sync_waiting WHERE space = ? AND name = ? AND id = ?", key.arguments)
            content.waiting[key] = list?.operations
        }
    }

    private func entries(_ need: SpaceNeeds.Entries) throws -> [LogEntry] {
        let rows = try Row.fetchCursor(
            database.cachedStatement(
                sql: "SELECT entry FROM runway_sync_log WHERE space = ? AND number >= ? ORDER BY number LIMIT ?"),
            arguments: [space, need.first, need.limit])
        return try prefix(rows) {
            try $0.decoded(0)
        } size: {
            $0.byteCount
        }
    }

    private func page(_ need: SpaceNeeds.Page) throws -> [KeyedRow] {
        let rows = try Row.fetchCursor(
            database.cachedStatement(
                sql: """
                    SELECT name, id, body FROM runway_sync_row WHERE space = ? AND (name, id) > (?, ?)
                    ORDER BY name, id LIMIT ?
                    """),
            arguments: [space, need.after?.table ?? "", need.after?.id.data ?? Data(), need.limit])
        return try prefix(rows) { row in
            try KeyedRow(RowKey(row.value(0), row.identifier(1)), row.decoded(2))
        } size: {
            $0.row.byteCount
        }
    }

    /// Decodes rows until their size exceeds that of a page.
    private func prefix<Element>(
        _ rows: RowCursor, _ element: (GRDB.Row) throws -> Element, size: (Element) -> Int
    ) throws -> [Element] {
        var (elements, byteCount) = ([Element](), 0)
        while byteCount <= SpaceNeeds.byteLimit, let row = try rows.next() {
            elements.append(try element(row))
            byteCount += size(elements[elements.count - 1])
        }
        return elements
    }

    private func decoded<Value: WireCodable>(_ sql: String, _ arguments: [any DatabaseValueConvertible]) throws
        -> Value?
    {
        let arguments = StatementArguments([space] + arguments)
        return try Row.fetchOne(database.cachedStatement(sql: sql), arguments: arguments).map { try $0.decoded(0) }
    }
}

extension SQLiteSyncTables {
    mutating func save(_ changes: SpaceContent) throws {
        for (id, record) in changes.devices {
            try run(
                """
                INSERT INTO runway_sync_device VALUES (?, ?, NULL, ?)
                ON CONFLICT (space, device) DO UPDATE SET record = excluded.record
                """, [id.data, Data(record.encoded())])
        }
        for (id, verdict) in changes.verdicts {
            try run(
                "INSERT INTO runway_sync_verdict VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                [id.data, Data(verdict.encoded())])
        }
        for (key, row) in changes.rows {
            try run(
                """
                INSERT INTO runway_sync_row VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (space, name, id) DO UPDATE SET life = excluded.life, body = excluded.body
                """, key.arguments + [row.life, Data(row.encoded())])
        }
        for (key, operations) in changes.waiting {
            try run("DELETE FROM runway_sync_waiting WHERE space = ? AND name = ? AND id = ?", key.arguments)
            if operations.isEmpty { continue }
            try run(
                "INSERT INTO runway_sync_waiting VALUES (?, ?, ?, ?)",
                key.arguments + [Data(WaitingList(operations).encoded())])
        }
        try append(changes.entries)
        guard let history = changes.history else { return }
        self.history = history
        try database.cachedStatement(sql: "UPDATE runway_sync_space SET history = ?, total = ? WHERE space = ?")
            .execute(
                arguments: [Data(history.encoded()), logByteCount, space])
    }

    private mutating func append(_ entries: [LogEntry]) throws {
        let now = now
        for entry in entries {
            let bytes = Data(entry.encoded())
            logByteCount += Int64(bytes.count)
            try run("INSERT INTO runway_sync_log VALUES (?, ?, ?, ?, ?)", [entry.number, now, logByteCount, bytes])
        }
    }

    func subject(of device: Identifier) throws -> String? {
        try Row.fetchOne(
            database.cachedStatement(sql: "SELECT subject FROM runway_sync_device WHERE space = ? AND device = ?"),
            arguments: [space, device.data]
        ).flatMap { try $0.optionalValue(0) }
    }

    func setSubject(_ subject: String, of device: Identifier) throws {
        try database.cachedStatement(
            sql: "UPDATE runway_sync_device SET subject = ? WHERE space = ? AND device = ? AND subject IS NOT ?"
        ).execute(arguments: [subject, space, device.data, subject])
    }

    func deviceCount(of subject: String, upTo limit: Int) throws -> Int {
        try Int.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT COUNT(*) FROM (SELECT 1 FROM runway_sync_device WHERE space = ? AND subject = ? LIMIT ?)
                    """),
            arguments: [space, subject, limit]) ?? 0
    }

    func waitingRowCount(upTo limit: Int) throws -> Int {
        try Int.fetchOne(
            database.cachedStatement(
                sql: "SELECT COUNT(*) FROM (SELECT 1 FROM runway_sync_waiting WHERE space = ? LIMIT ?)"),
            arguments: [space, limit]) ?? 0
    }

    func devices(after device: Identifier?, limit: Int) throws -> [Identifier] {
        try Row.fetchAll(
            database.cachedStatement(
                sql: "SELECT device FROM runway_sync_device WHERE space = ? AND device > ? ORDER BY device LIMIT ?"),
            arguments: [space, device?.data ?? Data(), limit]
        ).map { try $0.identifier(0) }
    }

    func mark(of number: Int64) throws -> LogMark? {
        try Row.fetchOne(
            database.cachedStatement(sql: "SELECT time, total FROM runway_sync_log WHERE space = ? AND number = ?"),
            arguments: [space, number]
        ).map { LogMark(milliseconds: try $0.value(0), byteCount: try $0.value(1)) }
    }

    func removeEntries(through number: Int64) throws {
        try run("DELETE FROM runway_sync_log WHERE space = ? AND number <= ?", [number])
    }

    func notifyHook(of commit: SyncCommit) throws { try hook?(commit, database) }

    private func run(_ sql: String, _ arguments: [any DatabaseValueConvertible]) throws {
        try database.cachedStatement(sql: sql).execute(arguments: StatementArguments([space] + arguments))
    }
}

extension RowKey {
    fileprivate var arguments: [any DatabaseValueConvertible] { [table, id.data] }
}

extension Identifier {
    var data: Data { Data(bytes) }
}

extension GRDB.Row {
    fileprivate func decoded<Value: WireCodable>(_ column: Int) throws -> Value {
        let data: Data = try value(column)
        do { return try Value(encoded: Array(data)) } catch {
            throw ServerStorageError(.corrupted, "A value of the synchronisation is damaged.")
        }
    }

    func identifier(_ column: Int) throws -> Identifier {
        let data: Data = try value(column)
        guard data.count == 16 else { throw ServerStorageError(.corrupted, "An id of the synchronisation is damaged.") }
        return data.withUnsafeBytes { bytes in
            func word(_ offset: Int) -> UInt64 {
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            }
            return Identifier(high: word(0), low: word(8))
        }
    }
}
