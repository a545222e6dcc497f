public import GRDB

/// Reads the rows of tables. All reads see the same state of the file.
///
/// ```swift
/// let open = try await store.read { file in
///     try file.fetch(Tasks.self, where: Tasks.done == false, orderedBy: [.ascending(Tasks.title)], limit: 20)
/// }
/// ```
///
/// The protocol has the few queries that most apps need. For all others, such as joins, aggregates and full-text
/// search, and for GRDB's own records, use GRDB's ``connection``.
public protocol TableReading {
    /// GRDB's connection in this transaction, for SQL of the app's own. Such SQL reads the values of secret columns as
    /// they are sealed.
    var connection: Database { get }
}

/// A reader of this module, which can open secrets.
protocol SecretReading {
    var secrets: SecretSealing { get }
}

/// Reads one state of the file. ``RecordStore/read(_:)`` and ``RecordStore/observe(_:)`` pass it to their closures.
public struct TableReader: TableReading, SecretReading {
    /// GRDB's connection, in a transaction that only reads.
    public let connection: Database
    let secrets: SecretSealing

    init(_ connection: Database, _ secrets: SecretSealing) { (self.connection, self.secrets) = (connection, secrets) }
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

    /// Returns the rows with some of their columns and the primary key. All other columns are absent, and secrets in
    /// them are not opened.
    public func fetch<Table: TableDefinition, each Value>(
        _ columns: repeat TableColumn<Table, each Value>, where condition: Condition<Table>? = nil,
        orderedBy ordering: [Ordering<Table>] = [], limit: Int? = nil
    ) throws -> [Values<Table>] {
        let layout = Table.columns.layout
        // The key is needed to open secrets, and distinguishes rows.
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

    /// Returns the number of rows.
    public func count<Table: TableDefinition>(
        _ table: Table.Type, where condition: Condition<Table>? = nil
    ) throws -> Int {
        let condition = try condition?.checked()
        let filter = condition.map { " WHERE \($0.sql)" } ?? ""
        let sql = "SELECT COUNT(*) FROM \(Table.columns.layout.quotedName)\(filter)"
        return try Int.fetchOne(
            try connection.cachedStatement(sql: sql), arguments: StatementArguments(condition?.arguments ?? [])) ?? 0
    }

    /// Makes the values of a row from stored ones that are outside of its table, and opens secrets. Columns that the
    /// table lacks are left out.
    ///
    /// - Throws: ``TableError/Kind/keyUnavailable`` if a secret can't be opened, or ``TableError/Kind/rejected`` if
    ///   there is one and the key is absent.
    package func values<Table: TableDefinition>(
        _ table: Table.Type, stored: some Sequence<(name: String, value: DatabaseValue)>
    ) throws -> Values<Table> {
        let layout = Table.columns.layout
        var row = RowValues(layout)
        for (name, value) in stored {
            guard let position = layout.columns.firstIndex(where: { $0.name == name }) else { continue }
            row.slots[position] = .stored(value)
        }
        if layout.hasSecrets { try (self as? any SecretReading)?.secrets.open(&row) }
        return Values(row: row)
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
            if hasSecrets { try (self as? any SecretReading)?.secrets.open(&row) }
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
        let statement = try connection.cachedStatement(sql: sql)
        let cursor = try Row.fetchCursor(statement, arguments: StatementArguments(arguments))
        var rows: [Element] = []
        while try cursor.next() != nil {
            var row = RowValues(layout)
            for index in positions.indices {
                // GRDB's `Row` is not used: its generic reading takes three times as long.
                let value = DatabaseValue(sqliteStatement: statement.sqliteStatement, index: CInt(index))
                let position = positions[index]
                // A value that another library wrote may have another form, and still be readable as the column's type.
                if !forms[index].matches(value) { try layout.columns[position].checkForeign(value, in: layout) }
                row.slots[position] = .stored(value)
            }
            rows.append(try make(&row))
        }
        return rows
    }
}

extension ColumnFacts {
    /// - Throws: ``TableError/Kind/corrupted`` if a value in another form can't be read as the column's type.
    fileprivate func checkForeign(_ value: DatabaseValue, in layout: TableLayout) throws {
        if value.isNull || isSecret || !isReadable(value) {
            throw TableError(.corrupted, "A value of \(layout.name).\(name) is not of its type.")
        }
    }
}
