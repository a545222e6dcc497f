import Foundation
import GRDB
import RunwaySyncCore

// The rows that the app reads and writes.
extension SQLiteDeviceStore {
    /// Applies the log, or shows rows anew: changes of the app's tables that are not captured. Capture pauses at the
    /// first of them, so that an exchange that changes nothing writes nothing, and waits for no drive.
    func applying(_ change: () throws -> Void) throws {
        isApplying = true
        let result = Result { try change() }
        isApplying = false
        // Also after an error: the app may catch it, and commit its other changes, which have to be captured.
        if isPaused {
            try removeUnnamedFiles()
            try setPaused(false)
        }
        try result.get()
    }

    /// Changes a table of the app, or the names of files that stay.
    func change(_ sql: String, _ arguments: StatementArguments) throws {
        precondition(isApplying, "A store changes the app's tables only while it applies the log")
        if !isPaused { try setPaused(true) }
        try execute(sql, arguments)
    }

    private func setPaused(_ isPaused: Bool) throws {
        try execute("UPDATE runway_sync_file SET paused = ?", [isPaused])
        self.isPaused = isPaused
    }

    func shown(_ key: RowKey) throws -> Columns<SyncValue>? {
        guard let shape = capture.shape(of: key.table) else { return nil }
        let statement = try database.cachedStatement(sql: shape.select)
        // A cursor of GRDB's rows would first make a dictionary of the columns' names.
        let cursor = try DatabaseValue.fetchCursor(
            statement, arguments: [key.id.databaseValue, space.databaseValue])
        guard try cursor.next() != nil else { return nil }
        return Columns(
            values: shape.columns.enumerated().map { index, name in
                (name, SyncValue(DatabaseValue(sqliteStatement: statement.sqliteStatement, index: CInt(index))))
            })
    }

    /// Shows a row. A row that the table can't store is parked: it is not shown, and counted (rule 15).
    func show(_ key: RowKey, _ values: Columns<SyncValue>?) throws {
        guard let shape = capture.shape(of: key.table) else { return }
        // GRDB makes a key path at each call for an array of values of one type, which takes as long as the rest.
        let place: [(any DatabaseValueConvertible)?] = [key.id.databaseValue, space.databaseValue]
        guard let values else {
            try change(shape.delete, StatementArguments(place))
            return try unpark(key)
        }
        var (positions, arguments) = ([Int](), place)
        for (name, value) in values {
            guard let position = shape.position(of: name) else { continue }
            guard let stored = value.databaseValue else { return try park(key, shape) }
            positions.append(position)
            arguments.append(stored)
        }
        do {
            try change(shape.upsert(positions), StatementArguments(arguments))
        } catch let error as DatabaseError
            where Self.refusals.contains(error.resultCode) && database.isInsideTransaction
        {
            return try park(key, shape)
        }
        // The row of another space has the same id.
        if database.changesCount == 0 { return try park(key, shape) }
        try unpark(key)
    }

    /// The errors of a table that can't store a row. `SQLITE_ERROR` is that of a function in a generated column, in an
    /// index or in a trigger.
    private static let refusals: [ResultCode] = [
        .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_TOOBIG, .SQLITE_ERROR,
    ]

    private func park(_ key: RowKey, _ shape: TableShape) throws {
        try change(shape.delete, [key.id.databaseValue, space.databaseValue])
        try execute("INSERT OR IGNORE INTO runway_sync_parked VALUES (?, ?, ?)", arguments(key))
        hasParked = true
    }

    private func unpark(_ key: RowKey) throws {
        let sql = "SELECT EXISTS (SELECT 1 FROM runway_sync_parked WHERE space = ?)"
        let isSome = try hasParked ?? Bool.fetchOne(database.cachedStatement(sql: sql), arguments: [number]) ?? false
        hasParked = isSome
        if !isSome { return }
        try execute("DELETE FROM runway_sync_parked WHERE space = ? AND tbl = ? AND id = ?", arguments(key))
    }

    func adoptStaged() throws {
        forgetRows()
        let sql = "SELECT tbl, id, row FROM runway_sync_staged WHERE space = ?"
        let cursor = try GRDB.Row.fetchCursor(database, sql: sql, arguments: [number])
        while let item = try cursor.next() {
            guard let id = Identifier(item[1] as DatabaseValue) else { throw DamagedRow() }
            let key = RowKey(item[0], id)
            let values = try decode(item[2]).values
            if try shown(key) != values { try show(key, values) }
        }
        for shape in capture.allShapes { try removeOthers(shape) }
        for sql in [
            "DELETE FROM runway_sync_row WHERE space = ?",
            "INSERT INTO runway_sync_row SELECT * FROM runway_sync_staged WHERE space = ?",
            "DELETE FROM runway_sync_staged WHERE space = ?",
        ] {
            try execute(sql, [number])
        }
    }

    /// Removes the shown rows of a table that are not staged.
    private func removeOthers(_ shape: TableShape) throws {
        let sql = """
            DELETE FROM \(shape.name.quotedName) WHERE \(shape.space.quotedName) = ?
                AND \(shape.key.quotedName) NOT IN (SELECT id FROM runway_sync_staged WHERE space = ? AND tbl = ?)
            """
        try change(sql, [space.databaseValue, number, shape.name])
    }

    func captured() throws -> [CapturedTransaction] {
        let writes = try GRDB.Row.fetchAll(database, sql: "SELECT last, time FROM runway_sync_write ORDER BY last")
        let statement = try database.cachedStatement(
            sql: "SELECT * FROM runway_sync_change WHERE space = ? ORDER BY n")
        let cursor = try GRDB.Row.fetchCursor(statement, arguments: [space.databaseValue])
        var (transactions, index) = ([CapturedTransaction](), -1)
        var current: CapturedTransaction?
        while let change = try cursor.next() {
            let n: Int64 = change["n"]
            if index < 0 || index < writes.count && n > writes[index]["last"] as Int64 {
                if let current { transactions.append(current) }
                index = writes[max(index, 0)...].firstIndex { $0["last"] as Int64 >= n } ?? writes.count
                let bits: Int64? = index < writes.count ? writes[index]["time"] : nil
                // Another program may have written after the last transaction that this module has seen.
                current = CapturedTransaction(
                    time: bits.flatMap { HybridTime(bits: UInt64(bitPattern: $0)) } ?? currentTime())
            }
            guard let id = Identifier(change["id"] as DatabaseValue) else { continue }
            let table: String = change["tbl"]
            try current?.capture(
                RowKey(table, id), before: before(change, of: table),
                movedTo: Identifier(change["moved"] as DatabaseValue), byteCount: 0)
        }
        return transactions + (current.map { [$0] } ?? [])
    }

    private func currentTime() -> HybridTime {
        var time = state.clock
        return time.tick(at: capture.now)
    }

    private func before(_ change: GRDB.Row, of table: String) -> Columns<SyncValue>? {
        guard change["existed"] as Int64 == 1, let shape = capture.shape(of: table) else { return nil }
        return Columns(
            shape.columns.enumerated().map { ($1, SyncValue(change["c\($0)"] as DatabaseValue)) })
    }

    func removeCaptured() throws {
        try execute("DELETE FROM runway_sync_change WHERE space = ?", [space.databaseValue])
        try execute("DELETE FROM runway_sync_write WHERE NOT EXISTS (SELECT 1 FROM runway_sync_change)", [])
    }
}
