import GRDB

/// The values of one row of a table, or of some of its columns. A change of the values does not change the file.
///
/// ```swift
/// var values = Values<Tasks>()
/// values[Tasks.title] = "Call the landlord"
/// values[Tasks.due] = nil                       // NULL, which is a value
/// values.remove(Tasks.due)                      // absent: a save leaves it as it is
/// ```
///
/// A column of another table does not compile. Descriptions show values, with secrets redacted.
public struct Values<Table: TableDefinition>: Sendable, Hashable {
    var row: RowValues

    /// Creates a row without values.
    public init() { row = RowValues(Table.columns.layout) }

    init(row: RowValues) { self.row = row }

    /// The value of a column that is never NULL; `nil` if it is absent. Setting `nil` makes it absent.
    public subscript<Value: ColumnValue>(column: TableColumn<Table, Value>) -> Value? {
        get { row[column.facts.name] }
        set { row[required: column.facts.name] = newValue }
    }

    /// The value of a column that may be NULL; `nil` if it is NULL or absent. Setting `nil` stores NULL.
    public subscript<Value: ColumnValue>(column: TableColumn<Table, Value?>) -> Value? {
        get { row[column.facts.name] }
        set { row[nullable: column.facts.name] = newValue }
    }

    /// Whether a column has a value. NULL is a value.
    public func contains<Value>(_ column: TableColumn<Table, Value>) -> Bool { row.contains(column.facts.name) }

    /// Removes the value of a column, so that a save does not change the column.
    public mutating func remove<Value>(_ column: TableColumn<Table, Value>) { row.remove(column.facts.name) }

    /// Returns the value of a column that is never NULL.
    ///
    /// - Throws: ``TableError/Kind/rejected`` if the value is absent, or can't be read as the column's type, such as a
    ///   case that only a later version of the app has.
    public func require<Value: ColumnValue>(_ column: TableColumn<Table, Value>) throws -> Value {
        guard let value = self[column] else {
            throw TableError(.rejected, "A row of \(Table.name) has no readable \(column.name).")
        }
        return value
    }
}

extension RowValues {
    subscript<Value: ColumnValue>(name: String) -> Value? {
        guard let stored = slots[layout.position(of: name)].stored, !stored.isNull else { return nil }
        return Value.value(of: stored)
    }

    subscript<Value: ColumnValue>(required name: String) -> Value? {
        get { self[name] }
        set { slots[layout.position(of: name)] = newValue.map { Slot($0) } ?? .absent }
    }

    subscript<Value: ColumnValue>(nullable name: String) -> Value? {
        get { self[name] }
        set { slots[layout.position(of: name)] = newValue.map { Slot($0) } ?? .stored(.null) }
    }

    func contains(_ name: String) -> Bool { !slots[layout.position(of: name)].isAbsent }
    mutating func remove(_ name: String) { slots[layout.position(of: name)] = .absent }
}

extension RowValues.Slot {
    init(_ value: some ColumnValue) { self = value.storedValue.map { .stored($0) } ?? .unstorable }
}

extension Values: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The columns that have a value, and the values; secrets are redacted.
    public var description: String { row.description }
    /// The same text as ``description``.
    public var debugDescription: String { row.description }
    /// No children: `dump` would show secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
