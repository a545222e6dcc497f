import GRDB

/// A condition on the rows of one table, with bound parameters.
///
/// ```swift
/// Tasks.list == list && (Tasks.due < tomorrow || Tasks.due == nil)
/// ```
///
/// A condition can use equality, comparison, AND, OR, NOT and `isAny(of:)`. Text is compared byte by byte. For other
/// queries, use GRDB's connection, ``TableReading/connection``.
public struct Condition<Table: TableDefinition>: Sendable {
    let sql: String
    let arguments: [DatabaseValue]
    /// The column whose operand can't be stored; `nil` if all operands can be stored.
    let unstorable: String?
    /// The comparisons that a row must all meet; `nil` if the condition has another form.
    let terms: [ConditionTerm]?

    init(
        _ sql: String, _ arguments: [DatabaseValue], unstorable: String? = nil, terms: [ConditionTerm]? = nil
    ) {
        self.sql = sql
        self.arguments = arguments
        self.unstorable = unstorable
        self.terms = terms
    }

    init<Value: ColumnValue>(_ facts: ColumnFacts, _ comparison: String, _ value: Value) {
        let stored = value.storedValue
        self.init(
            "\(facts.name.quotedDatabaseIdentifier) \(comparison) ?", [stored ?? .null],
            unstorable: stored == nil ? facts.name : nil,
            terms: [ConditionTerm(column: facts.name, comparison: comparison, value: stored ?? .null)])
    }

    /// Selects rows that meet both conditions.
    public static func && (first: Condition, second: Condition) -> Condition {
        first.joined("AND", second, terms: first.terms.flatMap { terms in second.terms.map { terms + $0 } })
    }
    /// Selects rows that meet at least one of the conditions.
    public static func || (first: Condition, second: Condition) -> Condition {
        first.joined("OR", second, terms: nil)
    }
    /// Selects rows that do not meet the condition. As in SQL, a row in which `due` is NULL meets neither `due < date`
    /// nor `!(due < date)`.
    public static prefix func ! (condition: Condition) -> Condition {
        Condition("NOT (\(condition.sql))", condition.arguments, unstorable: condition.unstorable)
    }

    private func joined(_ word: String, _ other: Condition, terms: [ConditionTerm]?) -> Condition {
        Condition(
            "(\(sql) \(word) \(other.sql))", arguments + other.arguments, unstorable: unstorable ?? other.unstorable,
            terms: terms)
    }

    /// - Throws: ``TableError/Kind/rejected`` if an operand can't be stored.
    func checked() throws -> Condition {
        if let unstorable { throw TableError(.rejected, "A value for \(unstorable) can't be stored without loss.") }
        return self
    }
}

extension TableColumn where Value: ColumnValue & Equatable {
    /// Selects rows with this value.
    public static func == (column: Self, value: Value) -> Condition<Table> { Condition(column.facts, "=", value) }
    /// Selects rows with another value.
    public static func != (column: Self, value: Value) -> Condition<Table> { Condition(column.facts, "<>", value) }

    /// Selects rows with one of these values; an empty sequence matches no row. More than 30,000 values are refused as
    /// ``TableError/Kind/rejected``.
    public func isAny(of values: some Sequence<Value>) -> Condition<Table> { Condition(facts, isAnyOf: Array(values)) }
}

extension TableColumn where Value: ColumnValue & Comparable {
    /// Selects rows with a smaller value.
    public static func < (column: Self, value: Value) -> Condition<Table> { Condition(column.facts, "<", value) }
    /// Selects rows with this value or a smaller one.
    public static func <= (column: Self, value: Value) -> Condition<Table> { Condition(column.facts, "<=", value) }
    /// Selects rows with a larger value.
    public static func > (column: Self, value: Value) -> Condition<Table> { Condition(column.facts, ">", value) }
    /// Selects rows with this value or a larger one.
    public static func >= (column: Self, value: Value) -> Condition<Table> { Condition(column.facts, ">=", value) }
}

extension TableColumn {
    /// Selects rows with this value; `nil` stands for NULL.
    public static func == <Wrapped: ColumnValue & Equatable>(column: Self, value: Wrapped?) -> Condition<Table>
    where Value == Wrapped? {
        guard let value else { return Condition(column.facts, isNull: true) }
        return Condition(column.facts, "=", value)
    }

    /// Selects rows with another value; NULL counts as another value. `nil` stands for NULL.
    public static func != <Wrapped: ColumnValue & Equatable>(column: Self, value: Wrapped?) -> Condition<Table>
    where Value == Wrapped? {
        guard let value else { return Condition(column.facts, isNull: false) }
        return Condition(column.facts, "IS NOT", value)
    }

    /// Selects rows with one of these values; rows with NULL never match. More than 30,000 values are refused as
    /// ``TableError/Kind/rejected``.
    public func isAny<Wrapped: ColumnValue & Equatable>(of values: some Sequence<Wrapped>) -> Condition<Table>
    where Value == Wrapped? {
        Condition(facts, isAnyOf: Array(values))
    }

    /// Selects rows with a smaller value; rows with NULL never match.
    public static func < <Wrapped: ColumnValue & Comparable>(column: Self, value: Wrapped) -> Condition<Table>
    where Value == Wrapped? {
        Condition(column.facts, "<", value)
    }

    /// Selects rows with this value or a smaller one; rows with NULL never match.
    public static func <= <Wrapped: ColumnValue & Comparable>(column: Self, value: Wrapped) -> Condition<Table>
    where Value == Wrapped? {
        Condition(column.facts, "<=", value)
    }

    /// Selects rows with a larger value; rows with NULL never match.
    public static func > <Wrapped: ColumnValue & Comparable>(column: Self, value: Wrapped) -> Condition<Table>
    where Value == Wrapped? {
        Condition(column.facts, ">", value)
    }

    /// Selects rows with this value or a larger one; rows with NULL never match.
    public static func >= <Wrapped: ColumnValue & Comparable>(column: Self, value: Wrapped) -> Condition<Table>
    where Value == Wrapped? {
        Condition(column.facts, ">=", value)
    }
}

extension Condition {
    init(_ facts: ColumnFacts, isNull: Bool) {
        self.init(
            "\(facts.name.quotedDatabaseIdentifier) IS \(isNull ? "" : "NOT ")NULL", [],
            terms: [ConditionTerm(column: facts.name, comparison: isNull ? "=" : "IS NOT", value: .null)])
    }

    init<Value: ColumnValue>(_ facts: ColumnFacts, isAnyOf values: [Value]) {
        let stored = values.compactMap { $0.storedValue }
        let marks = stored.map { _ in "?" }.joined(separator: ", ")
        // SQLite has at most 32,766 parameters in a statement.
        self.init(
            "\(facts.name.quotedDatabaseIdentifier) IN (\(marks))", stored,
            unstorable: stored.count < values.count || stored.count > 30_000 ? facts.name : nil)
    }
}

/// An order of the rows of one table. Rows can't be ordered by a ``Secret``.
public struct Ordering<Table: TableDefinition>: Sendable {
    let sql: String

    /// Smaller values first. Text is compared byte by byte.
    public static func ascending<Value: ColumnValue & Equatable>(_ column: TableColumn<Table, Value>) -> Ordering {
        Ordering(sql: column.name.quotedDatabaseIdentifier)
    }

    /// Larger values first. Text is compared byte by byte.
    public static func descending<Value: ColumnValue & Equatable>(_ column: TableColumn<Table, Value>) -> Ordering {
        Ordering(sql: column.name.quotedDatabaseIdentifier + " DESC")
    }

    /// NULL first, then smaller values. Text is compared byte by byte.
    public static func ascending<Value: ColumnValue & Equatable>(_ column: TableColumn<Table, Value?>) -> Ordering {
        Ordering(sql: column.name.quotedDatabaseIdentifier)
    }

    /// Larger values first, NULL last. Text is compared byte by byte.
    public static func descending<Value: ColumnValue & Equatable>(_ column: TableColumn<Table, Value?>) -> Ordering {
        Ordering(sql: column.name.quotedDatabaseIdentifier + " DESC")
    }
}
