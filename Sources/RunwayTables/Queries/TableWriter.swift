public import GRDB
import RunwaySQLite

/// Reads and writes rows in one transaction. ``RecordStore/write(_:)`` passes it to its closure. An error of SQLite is
/// GRDB's `DatabaseError` inside the closure; ``RecordStore/write(_:)`` throws it as ``TableError``.
///
/// ```swift
/// try await store.write { file in
///     try file.save(draft)
///     try file.delete(Tasks.self, where: Tasks.done == true)
/// }
/// ```
public struct TableWriter: TableReading, SecretReading {
    /// GRDB's connection, in a transaction.
    public let connection: Database
    let secrets: SecretSealing
    private let files: FileFolder
    private let follower: (any StoreFollower)?
    let ending = TransactionEnding()

    init(_ connection: Database, _ secrets: SecretSealing, files: FileFolder, follower: (any StoreFollower)? = nil) {
        self.connection = connection
        self.secrets = secrets
        self.files = files
        self.follower = follower
    }

    /// Inserts a row.
    ///
    /// - Returns: The values, with the key if SQLite assigned one.
    /// - Throws: ``TableError/Kind/rejected`` if a required value is absent, if a value is invalid or can't be stored,
    ///   or if a row has this key already; the error of the table's validation; or an error of the file.
    @discardableResult
    public func insert<Table: TableDefinition>(_ values: Values<Table>) throws -> Values<Table> {
        Values(row: try insert(values.row))
    }

    /// Changes the row that has the key of the values. Columns whose values are absent stay as they are.
    ///
    /// - Returns: Whether there is such a row.
    /// - Throws: The errors of ``insert(_:)``, and ``TableError/Kind/rejected`` if the key is absent.
    @discardableResult
    public func update<Table: TableDefinition>(_ values: Values<Table>) throws -> Bool { try update(values.row) }

    /// Changes the row that has the key of the values, or inserts a row if there is none.
    ///
    /// - Returns: The values, with the key if SQLite assigned one.
    /// - Throws: The errors of ``insert(_:)``.
    @discardableResult
    public func save<Table: TableDefinition>(_ values: Values<Table>) throws -> Values<Table> {
        Values(row: try save(values.row))
    }

    /// Saves one row of each table for which the draft has values, in the order in which the tables were added.
    ///
    /// - Returns: The draft, with keys that SQLite assigned.
    /// - Throws: The errors of ``insert(_:)``.
    @discardableResult
    public func save(_ draft: Draft) throws -> Draft {
        var draft = draft
        for index in draft.rows.indices { draft.rows[index] = try save(draft.rows[index]) }
        return draft
    }

    /// Changes the values of all rows that meet a condition; `nil` changes all rows.
    ///
    /// - Returns: The number of changed rows.
    /// - Throws: The errors of ``insert(_:)``, and ``TableError/Kind/rejected`` if a value is of a key column or a
    ///   secret column: such values differ from row to row.
    @discardableResult
    public func updateAll<Table: TableDefinition>(
        _ values: Values<Table>, where condition: Condition<Table>?
    ) throws -> Int {
        let (row, condition) = (values.row, try condition?.checked())
        let layout = row.layout
        let positions = row.positions
        guard !positions.isEmpty else { return 0 }
        if let position = positions.first(where: { $0 < layout.keyCount || layout.columns[$0].isSecret }) {
            throw TableError(.rejected, "\(layout.name).\(layout.columns[position].name) can't be set in many rows.")
        }
        let stored = try row.checked(positions)
        try files.check(row, in: connection)
        try layout.validate(row, .update)
        let update = FollowedUpdate(
            table: layout.name, values: zip(positions, stored).map { (layout.columns[$0].name, $1) },
            terms: condition.map(\.terms) ?? [])
        if let count = try follower?.updateAll(update, in: connection) { return count }
        let filter = condition.map { " WHERE \($0.sql)" } ?? ""
        try ending.record(in: connection) {
            try connection.execute(
                sql: "UPDATE \(layout.quotedName) SET \(layout.assignments(positions))\(filter)",
                arguments: StatementArguments(stored + (condition?.arguments ?? [])))
        }
        return connection.changesCount
    }

    /// Deletes all rows that meet a condition.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - condition: The condition that the rows meet; `nil` deletes all rows.
    /// - Returns: The number of deleted rows.
    /// - Throws: ``TableError/Kind/rejected`` if an operand of the condition can't be stored, or an error of the file.
    @discardableResult
    public func delete<Table: TableDefinition>(_ table: Table.Type, where condition: Condition<Table>?) throws -> Int {
        let condition = try condition?.checked()
        let filter = condition.map { " WHERE \($0.sql)" } ?? ""
        try ending.record(in: connection) {
            try connection.execute(
                sql: "DELETE FROM \(Table.columns.layout.quotedName)\(filter)",
                arguments: StatementArguments(condition?.arguments ?? []))
        }
        return connection.changesCount
    }
}

extension TableWriter {
    func insert(_ row: RowValues) throws -> RowValues {
        let layout = row.layout
        if let column = row.missingColumn {
            throw TableError(.rejected, "A row of \(layout.name) has no \(column).")
        }
        let positions = row.positions
        _ = try row.checked(positions)
        try files.check(row, in: connection)
        try layout.validate(row, .insert)
        try execute(layout.insertSQL(positions), try sealed(row, positions))
        guard layout.assignsKeys, row.slots[0].isAbsent else { return row }
        var inserted = row
        inserted.slots[0] = .stored(connection.lastInsertedRowID.databaseValue)
        return inserted
    }

    func update(_ row: RowValues) throws -> Bool {
        let (layout, key) = (row.layout, try row.key())
        let positions = row.positions.filter { $0 >= layout.keyCount }
        if positions.isEmpty { return try exists(layout, key) }
        _ = try row.checked(positions)
        try files.check(row, in: connection)
        try layout.validate(row, .update)
        var row = row
        if layout.hasSecrets {
            // They are sealed for the key that the file has. In a table of another library, SQLite may find a row by a
            // key in another case.
            let keyPositions = Array(0..<layout.keyCount)
            let sql = layout.selectSQL(keyPositions) + " WHERE \(layout.keyCondition)"
            guard let stored = try sealedRows(layout, keyPositions, sql, key).first else { return false }
            row.merge(stored, overriding: true)
        }
        try execute(layout.updateSQL(positions), try sealed(row, positions) + key)
        return connection.changesCount > 0
    }

    func save(_ row: RowValues) throws -> RowValues {
        if row.layout.assignsKeys, row.slots[0].isAbsent { return try insert(row) }
        let key = try row.key()
        // A row that does not exist is inserted, which validates it as a whole: a part of a row may be valid as an
        // update only.
        return try exists(row.layout, key) && update(row) ? row : try insert(row)
    }

    func exists(_ layout: TableLayout, _ key: [DatabaseValue]) throws -> Bool {
        let sql = "SELECT 1 FROM \(layout.quotedName) WHERE \(layout.keyCondition)"
        let statement = try connection.cachedStatement(sql: sql)
        return try Int.fetchOne(statement, arguments: StatementArguments(values: key)) != nil
    }

    private func sealed(_ row: RowValues, _ positions: [Int]) throws -> [DatabaseValue] {
        let row = row.layout.hasSecrets ? try secrets.sealed(row) : row
        return positions.compactMap { row.slots[$0].stored }
    }

    private func execute(_ sql: String, _ arguments: [DatabaseValue]) throws {
        try ending.record(in: connection) {
            try connection.cachedStatement(sql: sql).execute(arguments: StatementArguments(values: arguments))
        }
    }
}

/// The error with which SQLite has ended a transaction before its commit, such as that of a full disk. A closure that
/// ignores it continues without a transaction, where GRDB refuses each statement as `SQLITE_ABORT`.
final class TransactionEnding {
    private(set) var error: DatabaseError?

    fileprivate func record(in database: Database, _ operation: () throws -> Void) throws {
        do {
            try operation()
        } catch let error as DatabaseError {
            if self.error == nil, !database.isInsideTransaction { self.error = error }
            throw error
        }
    }
}

extension RowValues {
    /// The name of a column without which the row can't be inserted; `nil` if there is none.
    var missingColumn: String? {
        layout.columns.indices.first { position in
            let column = layout.columns[position]
            return slots[position].isAbsent && !column.isNullable && column.defaultValue == nil
                && !(position == 0 && layout.assignsKeys)
        }.map { layout.columns[$0].name }
    }

    /// Returns the values at these positions. All of them can be stored and are valid.
    func checked(_ positions: [Int]) throws -> [DatabaseValue] {
        try positions.map { position in
            let (name, column) = (layout.name, layout.columns[position])
            guard let value = slots[position].stored else {
                throw TableError(.rejected, "A value of \(name).\(column.name) can't be stored without loss.")
            }
            if let isValid = column.isValid, !value.isNull, !isValid(value) {
                throw TableError(.rejected, "A value of \(name).\(column.name) is invalid.")
            }
            return value
        }
    }
}
