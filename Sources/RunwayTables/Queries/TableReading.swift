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
            layout, Array(layout.columns.indices), try condition?.checked(), ordering.map { $0.sql }, limit)
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

    private func rows<Table>(
        _ layout: TableLayout, _ positions: [Int], _ condition: Condition<Table>?, _ ordering: [String], _ limit: Int?
    ) throws -> [Values<Table>] {
        var (sql, arguments) = (layout.selectSQL(positions), condition?.arguments ?? [])
        if let condition { sql += " WHERE " + condition.sql }
        if !ordering.isEmpty { sql += " ORDER BY " + ordering.joined(separator: ", ") }
        if let limit {
            sql += " LIMIT ?"
            arguments.append(max(limit, 0).databaseValue)
        }
        let hasSecrets = positions.contains { layout.columns[$0].isSecret }
        return try rows(layout, positions, sql, arguments) { row in
            if hasSecrets { try secrets.open(&row) }
            return Values(row: row)
        }
    }

    /// Reads rows without opening secrets.
    func sealedRows(
        _ layout: TableLayout, _ positions: [Int], _ sql: String, _ arguments: [DatabaseValue]
    ) throws -> [RowValues] {
        try rows(layout, positions, sql, arguments) { $0 }
    }

    private func rows<Element>(
        _ layout: TableLayout, _ positions: [Int], _ sql: String, _ arguments: [DatabaseValue],
        _ make: (inout RowValues) throws -> Element
    ) throws -> [Element] {
        let forms = positions.map { layout.columns[$0].form }
        let statement = try database.cachedStatement(sql: sql)
        let cursor = try Row.fetchCursor(statement, arguments: StatementArguments(arguments))
        var rows: [Element] = []
        while try cursor.next() != nil {
            var row = RowValues(layout)
            for index in positions.indices {
                // Not from GRDB's row, whose generic reading takes three times as long.
                let value = DatabaseValue(sqliteStatement: statement.sqliteStatement, index: CInt(index))
                let position = positions[index]
                // Of another library's file, a value may have another form, and still be one of the column's type.
                if !forms[index].matches(value) { try layout.columns[position].checkForeign(value, in: layout) }
                row.slots[position] = .stored(value)
            }
            rows.append(try make(&row))
        }
        return rows
    }
}

extension ColumnFacts {
    /// - Throws: ``TableError/Kind/corrupted`` if a value in another form is none of the column's type.
    fileprivate func checkForeign(_ value: DatabaseValue, in layout: TableLayout) throws {
        if value.isNull || isSecret || !isReadable(value) {
            throw TableError(.corrupted, "A value of \(layout.name).\(name) is not of its type.")
        }
    }
}
