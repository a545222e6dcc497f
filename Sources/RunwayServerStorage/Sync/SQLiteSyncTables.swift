import Foundation
import GRDB
import RunwaySQLite
import RunwayServer
import RunwaySyncCore

/// The tables of one space within a transaction of the file, which several requests share. SQLite has one writer, so
/// that the transaction is the lock of the space.
///
/// Records and rows are read once. The requests are decided on in memory, one after another, and their changes are
/// written together. A request with a hook, or one that reads more than single rows, has its changes written
/// separately, after a savepoint, to which the transaction returns if the request fails.
final class SQLiteSyncTables {
    let database: Database
    let space: Data
    let now: Int64
    private let hook: SyncStore.SQLiteHook?
    private(set) var history: History
    /// Whether the space is in the file, or is created at the end of the transaction.
    private(set) var exists: Bool
    /// The size of all entries of the log that were ever stored.
    private var total: Int64
    private var cache = SyncCache()
    /// Whether operations wait beside rows; `nil` before the first read. Mostly there are none in a space.
    private var hasWaiting: Bool?
    /// The changes of earlier requests that were not written yet.
    private var unsent = SyncChanges()
    /// The changes of the current request that were not written yet.
    private var changes = SyncChanges()
    /// Whether the current request has a savepoint.
    private var hasSavepoint = false

    /// Reads the row of a space, or begins a history if there is none.
    init(_ database: Database, _ space: Identifier, _ hook: SyncStore.SQLiteHook?) throws {
        (self.database, self.space, self.hook) = (database, Data(space.bytes), hook)
        now = Int64(Date().timeIntervalSince1970 * 1000)
        let row = try Row.fetchOne(
            database.cachedStatement(sql: "SELECT history, total FROM runway_sync_space WHERE space = ?"),
            arguments: [self.space])
        exists = row != nil
        history = try row?.decoded(0) ?? History(epoch: Identifier(UUID()))
        total = try row?.value(1) ?? 0
    }

    /// Runs one request. If it throws, only its own changes are undone.
    func run<Value>(
        _ access: SyncTransactionAccess, _ body: (inout any SyncTables) throws -> Value
    ) throws -> Value {
        let before = (history, total)
        do {
            var tables: any SyncTables = self
            let value = try body(&tables)
            if !exists, access == .writing {
                if changes.space == nil { changes.set(history, total: total) }
                exists = true
            }
            unsent.add(changes)
            changes = SyncChanges()
            try endSavepoint()
            return value
        } catch {
            if error is DatabaseError { throw error }
            changes = SyncChanges()
            (history, total) = before
            if hasSavepoint { try database.execute(sql: "ROLLBACK TO request") }
            try endSavepoint()
            // The loaded rows have changes that are undone now. They are loaded again.
            try writeUnsent()
            (cache, hasWaiting) = (SyncCache(), nil)
            throw error
        }
    }

    /// Writes the changes of earlier requests.
    func writeUnsent() throws {
        if unsent.isEmpty { return }
        try unsent.write(to: database, space, at: now)
        unsent = SyncChanges()
    }

    /// Writes the changes of earlier requests, and marks the place to which a failure of the current one returns.
    private func setSavepoint() throws {
        if hasSavepoint { return }
        try writeUnsent()
        try database.execute(sql: "SAVEPOINT request")
        hasSavepoint = true
    }

    private func endSavepoint() throws {
        if hasSavepoint { try database.execute(sql: "RELEASE request") }
        hasSavepoint = false
    }

    /// Writes all changes, so that the next statement reads them.
    private func writeChanges() throws {
        if !changes.isEmpty { try setSavepoint() }
        unsent.add(changes)
        changes = SyncChanges()
        try writeUnsent()
    }
}

extension SQLiteSyncTables: SyncTables {
    func content(for needs: SpaceNeeds) throws -> SpaceContent {
        try load(needs)
        var content = cache.content(for: needs)
        if needs.batches.isEmpty, needs.entries == nil, needs.page == nil { return content }
        try writeChanges()
        for need in needs.batches { try load(need, into: &content) }
        if let need = needs.entries { content.entries = try entries(need) }
        if let need = needs.page { content.page = try page(need) }
        return content
    }

    /// Loads records and rows that are not loaded yet.
    private func load(_ needs: SpaceNeeds) throws {
        let missing = cache.missing(needs)
        for id in missing.devices { cache.devices[id] = SyncCache.Device() }
        for id in missing.transactions { cache.verdicts.updateValue(nil, forKey: id) }
        for key in missing.rows { cache.rows[key] = SyncCache.Place() }
        try fetch(
            "SELECT device, record, subject FROM runway_sync_device WHERE space = ? AND device", [], missing.devices
        ) {
            cache.devices[try $0.identifier(0)] = SyncCache.Device(
                record: try $0.decoded(1), subject: try $0.optionalValue(2))
        }
        try fetch("SELECT id, verdict FROM runway_sync_verdict WHERE space = ? AND id", [], missing.transactions) {
            cache.verdicts.updateValue(try $0.decoded(1), forKey: try $0.identifier(0))
        }
        // The names are grouped by their bytes, as SQLite and `RowKey` compare them.
        for keys in Dictionary(grouping: missing.rows, by: { Array($0.table.utf8) }).values {
            let table = keys[0].table
            try fetch(
                "SELECT id, body FROM runway_sync_row WHERE space = ? AND name = ? AND id", [table], keys.map(\.id)
            ) {
                cache.rows[RowKey(table, try $0.identifier(0))]?.row = try $0.decoded(1)
            }
            try loadWaiting(beside: keys.map(\.id), of: table)
        }
    }

    private func loadWaiting(beside ids: [Identifier], of table: String) throws {
        let isSome =
            try hasWaiting ?? Bool.fetchOne(
                database.cachedStatement(
                    sql: "SELECT EXISTS (SELECT 1 FROM runway_sync_waiting WHERE space = ?)"), arguments: [space])
            ?? false
        hasWaiting = isSome
        guard isSome else { return }
        try fetch(
            "SELECT id, operations FROM runway_sync_waiting WHERE space = ? AND name = ? AND id", [table], ids
        ) {
            let list: WaitingList = try $0.decoded(1)
            cache.rows[RowKey(table, try $0.identifier(0))]?.waiting = list.operations
        }
    }

    /// Reads the rows whose last column of the key is one of some ids, with few statements.
    private func fetch(
        _ sql: String, _ key: [any DatabaseValueConvertible], _ ids: some Collection<Identifier>,
        _ read: (GRDB.Row) throws -> Void
    ) throws {
        try SQLiteStatements.forEachPart(of: Array(ids)) { part in
            let list = SQLiteStatements.list(of: part.count)
            let arguments = StatementArguments([space] + key + part.map(\.data))
            let rows = try Row.fetchCursor(
                database.cachedStatement(sql: "\(sql) IN \(list)"), arguments: arguments)
            while let row = try rows.next() { try read(row) }
        }
    }

    /// Loads the rows that a batch update matches. Only they stay in memory.
    private func load(_ need: SpaceNeeds.Matches, into content: inout SpaceContent) throws {
        var (count, missing) = (0, [Identifier]())
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
            let key = RowKey(need.batch.table, try stored.identifier(0))
            content.rows[key] = row
            count += 1
            if let place = cache.rows[key] { content.waiting[key] = place.waiting } else { missing.append(key.id) }
        }
        let keys = missing.map { RowKey(need.batch.table, $0) }
        for key in keys { cache.rows[key] = SyncCache.Place(row: content.rows[key]) }
        try loadWaiting(beside: missing, of: need.batch.table)
        for key in keys { content.waiting[key] = cache.rows[key]?.waiting }
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

    func save(_ changes: SpaceContent) {
        cache.apply(changes)
        history = changes.history ?? history
        if !changes.waiting.isEmpty { hasWaiting = true }
        self.changes.add(changes, to: &total)
    }

    func subject(of device: Identifier) throws -> String? {
        var needs = SpaceNeeds()
        needs.devices = [device]
        try load(needs)
        return cache.devices[device]?.subject
    }

    func setSubject(_ subject: String, of device: Identifier) {
        if cache.devices[device]?.subject == subject { return }
        changes.setSubject(subject, of: device, cache.devices[device]?.record)
        cache.setSubject(subject, of: device)
    }

    func deviceCount(of subject: String, upTo limit: Int) throws -> Int {
        if let count = cache.deviceCounts[subject] { return count }
        try writeChanges()
        let count =
            try Int.fetchOne(
                database.cachedStatement(
                    sql: """
                        SELECT COUNT(*) FROM (SELECT 1 FROM runway_sync_device WHERE space = ? AND subject = ? LIMIT ?)
                        """),
                arguments: [space, subject, limit]) ?? 0
        cache.deviceCounts[subject] = count
        return count
    }

    func waitingRowCount(of subject: String, upTo limit: Int) throws -> Int {
        try writeChanges()
        return try Int.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT COUNT(*) FROM (SELECT 1 FROM runway_sync_waiting WHERE space = ? AND subject = ? LIMIT ?)
                    """),
            arguments: [space, subject, limit]) ?? 0
    }

    func devices(after device: Identifier?, limit: Int) throws -> [Identifier] {
        try writeChanges()
        return try Row.fetchAll(
            database.cachedStatement(
                sql: "SELECT device FROM runway_sync_device WHERE space = ? AND device > ? ORDER BY device LIMIT ?"),
            arguments: [space, device?.data ?? Data(), limit]
        ).map { try $0.identifier(0) }
    }

    func mark(of number: Int64) throws -> LogMark? {
        try writeChanges()
        return try Row.fetchOne(
            database.cachedStatement(sql: "SELECT time, total FROM runway_sync_log WHERE space = ? AND number = ?"),
            arguments: [space, number]
        ).map { LogMark(milliseconds: try $0.value(0), byteCount: try $0.value(1)) }
    }

    func removeEntries(through number: Int64) throws {
        try setSavepoint()
        try writeChanges()
        try database.cachedStatement(sql: "DELETE FROM runway_sync_log WHERE space = ? AND number <= ?")
            .execute(arguments: [space, number])
    }

    func notifyHook(of commit: SyncCommit) throws {
        guard let hook else { return }
        try setSavepoint()
        try hook(commit, database)
    }
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
