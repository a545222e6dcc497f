import Foundation
import GRDB
import RunwaySyncCore
import RunwayTables
import Synchronization

/// A synchronised table of a store.
struct CapturedTable: Sendable {
    let name: String
    let synced: Synced
    /// The columns of files.
    var fileColumns: [String] = []
    /// Whether the table has secret columns, which only devices with the same key can read.
    var hasSecrets = false
}

/// Captures the changes of synchronised tables, in the transactions that make them (rule 1).
final class ChangeCapture: StoreFollower {
    let tables: [CapturedTable]
    let policies: ConflictPolicies
    /// Guards the shapes of the tables, by name; empty before the file was prepared.
    private let shapes = Mutex(Columns<TableShape>())
    /// Guards the functions that are called after commits with captured changes, by number.
    private let listeners = Mutex<[Int: @Sendable () -> Void]>([:])
    /// Guards the clock, in milliseconds since 1970; `nil` for the system's.
    private let clock = Mutex<(@Sendable () -> Int64)?>(nil)
    let outgoing = OutgoingCache()

    convenience init(_ followed: [FollowedTable]) {
        self.init(
            followed.compactMap { table in
                (table.details as? Synced).map { synced in
                    CapturedTable(
                        name: table.name, synced: synced, fileColumns: table.fileColumns,
                        hasSecrets: table.hasSecrets)
                }
            })
    }

    init(_ tables: [CapturedTable]) {
        self.tables = tables
        policies = ConflictPolicies(Columns(tables.map { ($0.name, $0.synced.conflicts) }))
    }

    /// The time since 1970 in milliseconds, by the device's clock.
    var now: Int64 { clock.withLock { $0 }?() ?? Int64(Date().timeIntervalSince1970 * 1000) }
    /// Replaces the system's clock, for tests.
    func setClock(_ now: (@Sendable () -> Int64)?) { clock.withLock { $0 = now } }

    /// Calls a function after each commit with captured changes, on the connection's thread.
    ///
    /// - Returns: A number for ``removeListener(_:)``.
    func addListener(_ listener: @escaping @Sendable () -> Void) -> Int {
        listeners.withLock { listeners in
            let number = (listeners.keys.max() ?? 0) + 1
            listeners[number] = listener
            return number
        }
    }

    func removeListener(_ number: Int) { _ = listeners.withLock { $0.removeValue(forKey: number) } }

    func shape(of table: String) -> TableShape? { shapes.withLock { $0[table] } }
    var allShapes: [TableShape] { shapes.withLock { $0.map(\.value) } }

    /// Whether all tables are sent one way.
    var isOneWay: Bool { tables.allSatisfy { $0.synced.direction != .both } }

    /// Returns a device without an exchange in flight.
    func device(of store: SQLiteDeviceStore) -> SyncDevice {
        var device = SyncDevice(policies)
        device.direction = direction(of: store)
        return device
    }

    func direction(of store: SQLiteDeviceStore) -> SyncDevice.Direction {
        if !store.isOneWay { return .both }
        let deadlines = tables.compactMap { table -> Int64? in
            if case .sending(let deadline) = table.synced.direction { deadline } else { nil }
        }
        return .sending(deadline: deadlines.min())
    }

    /// Returns the store of a space, for the rest of the transaction.
    func store(of space: Identifier, in database: Database) throws -> SQLiteDeviceStore {
        try SQLiteDeviceStore(space: space, self, database)
    }

    func prepare(_ database: Database) throws {
        database.clearSchemaCache()
        let problems =
            try tables.flatMap { try TableChecks(table: $0, database: database).problems() }
            + TableChecks.triggers(writing: tables, in: database)
        if !problems.isEmpty { throw TableError(.notSyncable, problems.joined(separator: " ")) }
        try readShapes(database)
        let shapes = allShapes
        try SyncSchema.create(columnCount: shapes.map(\.columns.count).max() ?? 0, in: database)
        try FileSchema.prepare(tables, in: database)
        for shape in shapes { try follow(shape, in: database) }
    }

    func readShapes(_ database: Database) throws {
        let found = try tables.compactMap { table in
            try TableShape(table.name, space: table.synced.spaceColumn, in: database)
        }
        shapes.withLock { $0 = Columns(found.map { ($0.name, $0) }) }
    }

    /// Creates the triggers of a table, if they are absent or the table has other columns than before.
    private func follow(_ shape: TableShape, in database: Database) throws {
        let columns = shape.columns.joined(separator: "\n")
        let former = try String.fetchOne(
            database, sql: "SELECT columns FROM runway_sync_table WHERE name = ?", arguments: [shape.name])
        let isFollowed = try triggerCount(of: shape, in: database) == 3
        if former != columns || !isFollowed { try createTriggers(shape, database) }
        if former == columns { return }
        try database.execute(
            sql: "INSERT OR REPLACE INTO runway_sync_table VALUES (?, ?)", arguments: [shape.name, columns])
        if former == nil {
            try database.execute(sql: shape.capturingAll)
            try endForeignWrites(in: database)
        } else {
            try showStoredColumns(of: shape, in: database)
        }
    }

    private func createTriggers(_ shape: TableShape, _ database: Database) throws {
        try database.execute(sql: shape.dropping)
        for trigger in shape.triggers { try database.execute(sql: trigger) }
    }

    private func triggerCount(of shape: TableShape, in database: Database) throws -> Int {
        let sql = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? AND name GLOB ?"
        return try Int.fetchOne(database, sql: sql, arguments: [shape.name, SyncSchema.triggerPrefix + "*"]) ?? 0
    }

    /// Shows the values of columns that were stored before this version of the app knew them, and rows that its tables
    /// could not store before (rule 15).
    private func showStoredColumns(of shape: TableShape, in database: Database) throws {
        for space in try spaces(in: database) {
            var store = try store(of: space, in: database)
            if store.isOneWay { continue }
            let keys = try store.keys(in: "runway_sync_row").filter { $0.isIn(shape.name) }
            try store.applying { try device(of: store).refresh(ChangedRows(Set(keys)), in: &store) }
            try store.finish()
        }
    }

    /// The spaces that the file has rows or changes of.
    func spaces(in database: Database) throws -> [Identifier] {
        try DatabaseValue.fetchAll(database, sql: "SELECT id FROM runway_sync_space ORDER BY number")
            .compactMap { Identifier($0) }
    }

    /// The spaces that the app has joined.
    func joinedSpaces(in database: Database) throws -> [Identifier] {
        try DatabaseValue.fetchAll(database, sql: "SELECT id FROM runway_sync_space WHERE joined = 1 ORDER BY number")
            .compactMap { Identifier($0) }
    }

    func willMigrate(_ database: Database) throws {
        database.clearSchemaCache()
        guard try SyncSchema.exists(in: database) else { return }
        try readShapes(database)
        try sealAll(in: database)
    }

    func pausing(in database: Database, _ change: () throws -> Void) throws {
        guard try SyncSchema.exists(in: database) else { return try change() }
        // SQLite refuses to drop a column that a trigger names.
        for shape in allShapes { try database.execute(sql: shape.dropping) }
        try FileSchema.removeTriggers(in: database)
        try change()
        database.clearSchemaCache()
        try readShapes(database)
        let shapes = allShapes
        try SyncSchema.create(columnCount: shapes.map(\.columns.count).max() ?? 0, in: database)
        for shape in shapes { try createTriggers(shape, database) }
    }

    func willWrite(_ database: Database) throws {
        guard isPrepared else { return }
        try endForeignWrites(in: database)
        let sql = "SELECT COUNT(*) FROM (SELECT 1 FROM runway_sync_write LIMIT \(SyncDevice.unsealedLimit))"
        let count = try Int.fetchOne(database.cachedStatement(sql: sql)) ?? 0
        if count >= SyncDevice.unsealedLimit { try sealAll(in: database) }
    }

    private var isPrepared: Bool { shapes.withLock { !$0.isEmpty } }

    func didWrite(_ database: Database) throws {
        if isPrepared, try endOwnWrite(in: database) { notifyAfterCommit(database) }
    }

    /// Ends a transaction after the changes of the app.
    ///
    /// - Returns: Whether there were changes.
    func endOwnWrite(in database: Database) throws -> Bool {
        let (last, bound) = try ends(in: database)
        if last <= bound { return false }
        try checkSize(after: bound, in: database)
        try endWrite(at: last, in: database)
        return true
    }

    func notifyAfterCommit(_ database: Database) {
        database.afterNextTransaction { [self] _ in for listener in listeners.withLock({ $0.values }) { listener() } }
    }

    /// Returns the numbers of the last change, and of the last change whose transaction has ended.
    private func ends(in database: Database) throws -> (last: Int64, bound: Int64) {
        let last = try Int64.fetchOne(database.cachedStatement(sql: "SELECT MAX(n) FROM runway_sync_change")) ?? 0
        if last == 0 { return (0, 0) }
        let sql = "SELECT MAX(last) FROM runway_sync_write"
        return (last, try Int64.fetchOne(database.cachedStatement(sql: sql)) ?? 0)
    }

    private func checkSize(after bound: Int64, in database: Database) throws {
        let statement = try database.cachedStatement(
            sql: "SELECT COUNT(*), SUM(size) FROM runway_sync_change WHERE n > ?")
        guard let row = try Row.fetchOne(statement, arguments: [bound]) else { return }
        var (count, bytes): (Int, Int) = (row[0], row[1] ?? 0)
        if count > Transaction.maximumOperations {
            let sql = """
                SELECT MAX(count) FROM (SELECT COUNT(*) AS count FROM (
                    SELECT DISTINCT space, tbl, id FROM runway_sync_change WHERE n > ?) GROUP BY space)
                """
            count = try Int.fetchOne(database, sql: sql, arguments: [bound]) ?? 0
        }
        if bytes > Transaction.maximumBytes {
            let sql =
                "SELECT MAX(size) FROM (SELECT SUM(size) AS size FROM runway_sync_change WHERE n > ? GROUP BY space)"
            bytes = try Int.fetchOne(database, sql: sql, arguments: [bound]) ?? 0
        }
        if count > Transaction.maximumOperations || bytes > Transaction.maximumBytes {
            throw TableError(
                .rejected, "A transaction changes more than 5,000 rows, or 4 MiB, of synchronised tables.")
        }
    }

    private func endWrite(at last: Int64, in database: Database) throws {
        let time = try tick(in: database)
        try database.cachedStatement(sql: "INSERT INTO runway_sync_write VALUES (?, ?)")
            .execute(arguments: [last, Int64(bitPattern: time.bits)])
    }

    /// Ends transactions after changes that are not of the app: those of another program, and of rows from before the
    /// table was synchronised. Each has at most 500 changes and 1 MiB; a larger change is a transaction of its own.
    func endForeignWrites(in database: Database) throws {
        let (last, bound) = try ends(in: database)
        if last <= bound { return }
        let sql = "SELECT n, size FROM runway_sync_change WHERE n > ? ORDER BY n"
        let changes = try GRDB.Row.fetchCursor(database, sql: sql, arguments: [bound])
        var (ends, end, count, bytes) = ([Int64](), bound, 0, 0)
        while let change = try changes.next() {
            let size: Int = change[1]
            if count == 500 || count > 0 && bytes + size > 1 << 20 {
                ends.append(end)
                (count, bytes) = (0, 0)
            }
            (end, count, bytes) = (change[0], count + 1, bytes + size)
        }
        for end in ends + [last] { try endWrite(at: end, in: database) }
    }

    /// Returns the time of a write, read in its transaction (rule 8).
    private func tick(in database: Database) throws -> HybridTime {
        var clock = HybridClock()
        clock.receive(try time(in: database))
        let time = clock.tick(at: now)
        try setTime(time, in: database)
        return time
    }

    func time(in database: Database) throws -> HybridTime {
        let bits = try Int64.fetchOne(database.cachedStatement(sql: "SELECT clock FROM runway_sync_file")) ?? 0
        return HybridTime(bits: UInt64(bitPattern: bits)) ?? .zero
    }

    func setTime(_ time: HybridTime, in database: Database) throws {
        try database.cachedStatement(sql: "UPDATE runway_sync_file SET clock = ?")
            .execute(arguments: [Int64(bitPattern: time.bits)])
    }

    /// Makes the generator of ids. It is boxed for ThreadSanitizer, which reports accesses to a struct without stored
    /// properties, since such a struct has no address of its own.
    func makeRandom() -> any RandomNumberGenerator { SystemRandomNumberGenerator() }

    /// Seals the captured writes of all spaces (rule 1). In a transaction of the app, ``endOwnWrite(in:)`` comes first.
    func sealAll(in database: Database) throws {
        let sql = "SELECT DISTINCT space FROM runway_sync_change"
        let spaces = try DatabaseValue.fetchAll(database.cachedStatement(sql: sql)).compactMap { Identifier($0) }
        if spaces.isEmpty { return }
        try endForeignWrites(in: database)
        var random = makeRandom()
        for space in spaces {
            var store = try store(of: space, in: database)
            let table = "SELECT tbl FROM runway_sync_change WHERE space = ? LIMIT 1"
            let first = try String.fetchOne(database.cachedStatement(sql: table), arguments: [space.databaseValue])
            let captured = tables.first { first.map($0.name.isSame) ?? false }
            if let captured, captured.synced.direction != .both { try store.setOneWay() }
            try device(of: store).seal(at: now, in: &store, using: &random)
            try store.finish()
        }
    }
}
