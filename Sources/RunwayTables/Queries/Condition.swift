import GRDB

/// A condition on the rows of one table, with bound parameters.
///
/// ```swift
/// Tasks.list == list && (Tasks.due < tomorrow || Tasks.due == nil)
/// ```
///
/// A condition can use equality, comparison, AND, OR, NOT and `isAny(of:)`. Text is compared byte by byte. For other
/// queries, use GRDB's access, ``TableReading/database``.
public struct Condition<Table: TableDefinition>: Sendable {
    let sql: String
    let arguments: [DatabaseValue]
    /// The column whose operand can't be stored, so that no row can have it.
    let unstorable: String?

    init(_ sql: String, _ arguments: [DatabaseValue], unstorable: String? = nil) {
        self.sql = sql
        self.arguments = arguments
        self.unstorable = unstorable
    }

    init<Value: ColumnValue>(_ facts: ColumnFacts, _ comparison: String, _ value: Value) {
        let stored = value.storedValue
        self.init(
            "\(facts.name.quotedDatabaseIdentifier) \(comparison) ?", [stored ?? .null],
            unstorable: stored == nil ? facts.name : nil)
    }

    /// Both conditions hold.
    public static func && (first: Condition, second: Condition) -> Condition { first.joined("AND", second) }
    /// One of the conditions holds, or both.
    public static func || (first: Condition, second: Condition) -> Condition { first.joined("OR", second) }
    /// The condition does not hold; for a comparison with NULL, neither it nor its opposite holds.
    public static prefix func ! (condition: Condition) -> Condition {
        Condition("NOT (\(condition.sql))", condition.arguments, unstorable: condition.unstorable)
    }

    private func joined(_ word: String, _ other: Condition) -> Condition {
        Condition(
            "(\(sql) \(word) \(other.sql))", arguments + other.arguments, unstorable: unstorable ?? other.unstorable)
    }

    /// - Throws: ``TableError/Kind/rejected`` if an operand can't be stored.
    func checked() throws -> Condition {
        if let unstorable { throw TableError(.rejected, "A value for \(unstorable) can't be stored without loss.") }
        return self
    }
}

extension TableColumn where Value: ColumnValue & Equatable {
    /// Rows with this value.
    public static func == (column: Self, value: Value) -> Condition<Table> { Condition(column.facts, "=", value) }
    /// Rows with another value.
    public static func != (column: Self, value: Value) -> Condition<Table> { Condition(column.facts, "<>", value) }

    /// Rows with one of these values, at most 30,000. No row has one of none.
    public func isAny(of values: some Sequence<Value>) -> Condition<Table> { Condition(facts, isAnyOf: Array(values)) }
}

extension TableColumn where Value: ColumnValue & Comparable {
    /// Rows with a smaller value.
    public static func < (column: Self, value: Value) -> Condition<Table> { Condition(column.facts, "<", value) }
    /// Rows with this or a smaller value.
    public static func <= (column: Self, value: Value) -> Condition<Table> { Condition(column.facts, "<=", value) }
    /// Rows with a larger value.
    public static func > (column: Self, value: Value) -> Condition<Table> { Condition(column.facts, ">", value) }
    /// Rows with this or a larger value.
    public static func >= (column: Self, value: Value) -> Condition<Table> { Condition(column.facts, ">=", value) }
}

extension TableColumn {
    /// Rows with this value; `nil` stands for NULL.
    public static func == <Wrapped: ColumnValue & Equatable>(column: Self, value: Wrapped?) -> Condition<Table>
    where Value == Wrapped? {
        guard let value else { return Condition("\(column.name.quotedDatabaseIdentifier) IS NULL", []) }
        return Condition(column.facts, "=", value)
    }

    /// Rows with another value, NULL among them; `nil` stands for NULL.
    public static func != <Wrapped: ColumnValue & Equatable>(column: Self, value: Wrapped?) -> Condition<Table>
    where Value == Wrapped? {
        guard let value else { return Condition("\(column.name.quotedDatabaseIdentifier) IS NOT NULL", []) }
        return Condition(column.facts, "IS NOT", value)
    }

    /// Rows with one of these values, at most 30,000; NULL is none of them.
    public func isAny<Wrapped: ColumnValue & Equatable>(of values: some Sequence<Wrapped>) -> Condition<Table>
    where Value == Wrapped? {
        Condition(facts, isAnyOf: Array(values))
    }

    /// Rows with a smaller value; NULL is none.
    public static func < <Wrapped: ColumnValue & Comparable>(column: Self, value: Wrapped) -> Condition<Table>
    where Value == Wrapped? {
        Condition(column.facts, "<", value)
    }

    /// Rows with this or a smaller value; NULL is none.
    public static func <= <Wrapped: ColumnValue & Comparable>(column: Self, value: Wrapped) -> Condition<Table>
    where Value == Wrapped? {
        Condition(column.facts, "<=", value)
    }

    /// Rows with a larger value; NULL is none.
    public static func > <Wrapped: ColumnValue & Comparable>(column: Self, value: Wrapped) -> Condition<Table>
    where Value == Wrapped? {
        Condition(column.facts, ">", value)
    }

    /// Rows with this or a larger value; NULL is none.
    public static func >= <Wrapped: ColumnValue & Comparable>(column: Self, value: Wrapped) -> Condition<Table>
    where Value == Wrapped? {
        Condition(column.facts, ">=", value)
    }
}

extension Condition {
    init<Value: ColumnValue>(_ facts: ColumnFacts, isAnyOf values: [Value]) {
        let stored = values.compactMap { $0.storedValue }
        let marks = stored.map { _ in "?" }.joined(separator: ", ")
        // SQLite has at most 32,766 parameters in a statement.
        self.init(
            "\(facts.name.quotedDatabaseIdentifier) IN (\(marks))", stored,
            unstorable: stored.count < values.count || stored.count > 30_000 ? facts.name : nil)
    }
}

/// An order of the rows of one table. A ``Secret`` has none.
public struct Ordering<Table: TableDefinition>: Sendable {
    let sql: String

    /// Smaller values first; text byte by byte.
    public static func ascending<Value: ColumnValue & Equatable>(_ column: TableColumn<Table, Value>) -> Ordering {
        Ordering(sql: column.name.quotedDatabaseIdentifier)
    }

    /// Larger values first; text byte by byte.
    public static func descending<Value: ColumnValue & Equatable>(_ column: TableColumn<Table, Value>) -> Ordering {
        Ordering(sql: column.name.quotedDatabaseIdentifier + " DESC")
    }

    /// NULL first, and then smaller values; text byte by byte.
    public static func ascending<Value: ColumnValue & Equatable>(_ column: TableColumn<Table, Value?>) -> Ordering {
        Ordering(sql: column.name.quotedDatabaseIdentifier)
    }

    /// Larger values first, NULL last; text byte by byte.
    public static func descending<Value: ColumnValue & Equatable>(_ column: TableColumn<Table, Value?>) -> Ordering {
        Ordering(sql: column.name.quotedDatabaseIdentifier + " DESC")
    }
}
