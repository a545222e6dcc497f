/// The values that a record writes and reads: one row for each of its tables.
///
/// ```swift
/// let draft = Draft(cell)                       // on the cell's actor
/// try await store.write { try $0.save(draft) }  // all tables in one transaction
/// ```
public struct Draft: Sendable, Hashable {
    /// The rows, one for each table, in the order in which they were added. A record has few tables.
    var rows: [RowValues] = []

    /// Creates a draft without values.
    public init() {}

    /// Creates a draft with the values that a record writes.
    public init(_ record: some VirtualRecord) { record.write(to: &self) }

    /// Creates a draft with the values of rows of several tables. If two rows belong to the same table, each value of
    /// the later row replaces that of the earlier row.
    public init<each Table: TableDefinition>(_ values: repeat Values<each Table>) {
        for row in repeat (each values).row { merge(row, overriding: true) }
    }

    /// The value of a column that is never NULL; `nil` if it is absent. Setting `nil` makes it absent.
    public subscript<Table, Value: ColumnValue>(column: TableColumn<Table, Value>) -> Value? {
        get { row(Table.self)?[column.facts.name] }
        set { change(Table.self) { $0[required: column.facts.name] = newValue } }
    }

    /// The value of a column that may be NULL; `nil` if it is NULL or absent. Setting `nil` stores NULL.
    public subscript<Table, Value: ColumnValue>(column: TableColumn<Table, Value?>) -> Value? {
        get { row(Table.self)?[column.facts.name] }
        set { change(Table.self) { $0[nullable: column.facts.name] = newValue } }
    }

    /// Whether a column has a value. NULL is a value.
    public func contains<Table, Value>(_ column: TableColumn<Table, Value>) -> Bool {
        row(Table.self)?.contains(column.facts.name) ?? false
    }

    /// Removes the value of a column, so that a save does not change the column.
    public mutating func remove<Table, Value>(_ column: TableColumn<Table, Value>) {
        change(Table.self) { $0.remove(column.facts.name) }
    }

    /// Returns the values of one table; empty if the draft has no values of it.
    public func values<Table: TableDefinition>(of table: Table.Type) -> Values<Table> {
        row(table).map { Values(row: $0) } ?? Values()
    }

    /// Adds the values of another draft.
    ///
    /// - Parameters:
    ///   - other: Another draft.
    ///   - overriding: Whether to replace values that this draft already has. If `false`, only values that are absent
    ///     in this draft are added. NULL is a value, and not absent.
    public mutating func merge(_ other: Draft, overriding: Bool) {
        for row in other.rows { merge(row, overriding: overriding) }
    }

    private mutating func merge(_ row: RowValues, overriding: Bool) {
        guard let index = rows.firstIndex(where: { $0.layout === row.layout }) else { return rows.append(row) }
        rows[index].merge(row, overriding: overriding)
    }

    private func row<Table: TableDefinition>(_ table: Table.Type) -> RowValues? {
        let layout = Table.columns.layout
        return rows.first { $0.layout === layout }
    }

    private mutating func change<Table: TableDefinition>(_ table: Table.Type, _ body: (inout RowValues) -> Void) {
        let layout = Table.columns.layout
        if let index = rows.firstIndex(where: { $0.layout === layout }) { return body(&rows[index]) }
        var row = RowValues(layout)
        body(&row)
        rows.append(row)
    }
}

extension Draft: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The tables, the columns that have a value, and the values; secrets are redacted.
    public var description: String { rows.map { $0.description }.joined(separator: ", ") }
    /// The same text as ``description``.
    public var debugDescription: String { description }
    /// No children: `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
