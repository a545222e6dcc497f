public import GRDB

/// Reads the rows of tables. All reads see the same state of the file.
///
/// ```swift
/// let open = try await store.read { file in
///     try file.fetch(Tasks.self, where: Tasks.done == false, orderedBy: [.ascending(Tasks.title)], limit: 20)
/// }
/// ```
///
/// The protocol has the few queries that most apps need. Use ``database``, GRDB's access, for all others: joins,
/// aggregates, full-text search and GRDB's own records.
public protocol TableReading {
    /// GRDB's connection in this transaction, for SQL of the app's own. The values of secret columns are sealed there.
    var database: Database { get }
    /// The sealing of secret columns.
    var secrets: SecretSealing { get }
}

/// Reads one state of the file. ``RecordStore/read(_:)`` and ``RecordStore/observe(_:)`` pass it to their closures.
public struct TableReader: TableReading {
    /// GRDB's connection, in a transaction that only reads.
    public let database: Database
    /// The sealing of secret columns.
    public let secrets: SecretSealing

    init(_ database: Database, _ secrets: SecretSealing) {
        self.database = database
        self.secrets = secrets
    }
}

extension TableReading {
    /// Returns rows.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - condition: The condition that the rows meet. The default is all rows.
    ///   - ordering: The order of the rows: by the first element, then by the second, and so on. The default is
    ///     SQLite's order, which may change.
    ///   - limit: The maximum number of rows. The default is all rows.
    /// - Throws: ``TableError/Kind/corrupted`` if a value is of another type than its column,
    ///   ``TableError/Kind/keyUnavailable`` if a secret can't be opened, or an error of the file.
    public func fetch<Table: TableDefinition>(
        _ table: Table.Type, where condition: Condition<Table>? = nil, orderedBy ordering: [Ordering<Table>] = [],
        limit: Int? = nil
    ) throws -> [Values<Table>] {
        let layout = Table.columns.layout
        return try rows(
            layout, Array(layout.columns.indices), try condition?.checked(), ordering.map { $0.sql }, limit
        ).map { Values(row: $0) }
    }

    /// Returns some columns of rows; the others are absent. Secrets that are
    /// not among them are not opened.
    public func fetch<Table: TableDefinition, each Value>(
        _ columns: repeat TableColumn<Table, each Value>, where condition: Condition<Table>? = nil,
        orderedBy ordering: [Ordering<Table>] = [], limit: Int? = nil
    ) throws -> [Values<Table>] {
        let layout = Table.columns.layout
        // With the key, by which secrets are opened, and which distinguishes rows.
        var positions = Set(0..<layout.keyCount)
        for column in repeat (each columns).facts { positions.insert(layout.position(of: column.name)) }
        return try rows(layout, positions.sorted(), try condition?.checked(), ordering.map { $0.sql }, limit)
            .map { Values(row: $0) }
    }

    /// Returns the first row; `nil` if there is none.
    public func fetchFirst<Table: TableDefinition>(
        _ table: Table.Type, where condition: Condition<Table>? = nil, orderedBy ordering: [Ordering<Table>] = []
    ) throws -> Values<Table>? {
        try fetch(table, where: condition, orderedBy: ordering, limit: 1).first
    }

    /// Returns how many rows there are.
    public func count<Table: TableDefinition>(
        _ table: Table.Type, where condition: Condition<Table>? = nil
    ) throws -> Int {
        let condition = try condition?.checked()
        let filter = condition.map { " WHERE \($0.sql)" } ?? ""
        let sql = "SELECT COUNT(*) FROM \(Table.columns.layout.quotedName)\(filter)"
        return try Int.fetchOne(
            try database.cachedStatement(sql: sql), arguments: StatementArguments(condition?.arguments ?? [])) ?? 0
    }

    func rows<Table>(
        _ layout: TableLayout, _ positions: [Int], _ condition: Condition<Table>?, _ ordering: [String], _ limit: Int?
    ) throws -> [RowValues] {
        var (sql, arguments) = (layout.selectSQL(positions), condition?.arguments ?? [])
        if let condition { sql += " WHERE " + condition.sql }
        if !ordering.isEmpty { sql += " ORDER BY " + ordering.joined(separator: ", ") }
        if let limit {
            sql += " LIMIT ?"
            arguments.append(max(limit, 0).databaseValue)
        }
        return try rows(layout, positions, sql, arguments)
    }

    func rows(
        _ layout: TableLayout, _ positions: [Int], _ sql: String, _ arguments: [DatabaseValue]
    ) throws -> [RowValues] {
        var rows = try sealedRows(layout, positions, sql, arguments)
        if positions.contains(where: { layout.columns[$0].isSecret }) {
            for index in rows.indices { try secrets.open(&rows[index]) }
        }
        return rows
    }

    /// Reads rows without opening secrets.
    func sealedRows(
        _ layout: TableLayout, _ positions: [Int], _ sql: String, _ arguments: [DatabaseValue]
    ) throws -> [RowValues] {
        let empty = RowValues(layout)
        let cursor = try Row.fetchCursor(
            try database.cachedStatement(sql: sql), arguments: StatementArguments(arguments))
        var rows: [RowValues] = []
        while let row = try cursor.next() {
            var values = empty
            for (index, position) in positions.enumerated() {
                let (value, column): (DatabaseValue, ColumnFacts) = (row[index], layout.columns[position])
                // Of another library's file, a value may have another form, and still be one of the column's type.
                if !column.isOwn(value), value.isNull || column.isSecret || !column.isReadable(value) {
                    throw TableError(.corrupted, "A value of \(layout.name).\(column.name) is not of its type.")
                }
                values.slots[position] = .stored(value)
            }
            rows.append(values)
        }
        return rows
    }
}
