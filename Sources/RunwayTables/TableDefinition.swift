/// The definition of a table: its name, its columns, and the values that it accepts. A store creates the table from it.
///
/// ```swift
/// enum Tasks: TableDefinition {
///     static let name = "task"
///     static let id = Column<UUID>("id"), list = Column<UUID>("listId"), title = Column<String>("title")
///     static let done = Column<Bool>("done", default: false), due = Column<Date?>("due")
///
///     static let columns = TableColumns<Self>(id, list, title, done, due)
///     static let indexes = [Index("taskByList", on: list, due)]
/// }
/// ```
///
/// A table has rules for its own rows only. Rules for several tables belong in a type above the tables, such as a
/// ``DataCenter``. In a file that also imports GRDB, write `RunwayTables.TableDefinition` for this protocol.
public protocol TableDefinition: SendableMetatype {
    /// The name in the file.
    static var name: String { get }
    /// All columns of the table, those of the primary key first.
    static var columns: TableColumns<Self> { get }
    /// The indexes of the table. The default is none.
    static var indexes: [TableIndex<Self>] { get }
    /// The declaration for another module that follows the table, such as `RunwaySync`. The default is `nil`. An app
    /// does not declare it: a protocol of that module does.
    static var following: TableFollowing? { get }

    /// Checks a row before it is inserted, or the changed values before an update. The default accepts all values.
    ///
    /// - Parameters:
    ///   - values: All values of an insert; for an update, the changed values and the key.
    ///   - change: The kind of the change: an insert or an update.
    /// - Throws: Any error, which refuses the whole transaction.
    static func validate(_ values: Values<Self>, for change: TableChange) throws
}

extension TableDefinition {
    /// A column of this table.
    public typealias Column<Value> = TableColumn<Self, Value>
    /// An index of this table.
    public typealias Index = TableIndex<Self>

    /// No indexes.
    public static var indexes: [TableIndex<Self>] { [] }

    /// `nil`, the default: no other module follows the table.
    public static var following: TableFollowing? { nil }

    /// Accepts all values.
    public static func validate(_ values: Values<Self>, for change: TableChange) throws {}

    /// The statements that create the table and its indexes, for the first step in which the table exists.
    public static var creatingSQL: String { columns.layout.creatingSQL.joined(separator: ";\n") + ";" }
}

/// A change that a table validates.
public enum TableChange: Sendable {
    /// A new row.
    case insert
    /// New values of rows that exist.
    case update
}

/// An index of a table.
public struct TableIndex<Table: TableDefinition>: Sendable {
    let facts: IndexFacts

    /// Declares an index.
    ///
    /// - Parameters:
    ///   - name: The name in the file, unique among all indexes and tables.
    ///   - columns: The columns, in their order.
    ///   - isUnique: Whether two rows with equal values are refused. The default is `false`.
    public init<each Value>(_ name: String, on columns: repeat TableColumn<Table, each Value>, isUnique: Bool = false) {
        var names: [String] = []
        for column in repeat (each columns).facts { names.append(column.name) }
        facts = IndexFacts(name: name, columns: names, isUnique: isUnique)
    }
}

struct IndexFacts: Sendable, Hashable {
    let name: String
    let columns: [String]
    let isUnique: Bool
}

/// The columns of a table, in the order of the file.
public struct TableColumns<Table: TableDefinition>: Sendable {
    let layout: TableLayout

    /// Lists the columns of a table.
    ///
    /// - Parameters:
    ///   - columns: All columns, those of the primary key first. A single integer as the key is assigned by SQLite if a
    ///     row is inserted without one.
    ///   - keyColumnCount: The number of columns in the primary key. The default is 1.
    public init<each Value>(_ columns: repeat TableColumn<Table, each Value>, keyColumnCount: Int = 1) {
        var facts: [ColumnFacts] = []
        for column in repeat (each columns).facts { facts.append(column) }
        layout = TableLayout(
            name: Table.name, columns: facts, keyCount: keyColumnCount, indexes: Table.indexes.map { $0.facts },
            validate: { try Table.validate(Values(row: $0), for: $1) })
    }
}
