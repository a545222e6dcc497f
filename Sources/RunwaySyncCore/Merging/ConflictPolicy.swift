/// The treatment of concurrent changes of one row, for each table (rule 7).
///
/// Two changes are concurrent if neither device had seen the other's change when it wrote.
public enum ConflictPolicy: Sendable {
    /// The newest value wins, column by column. This is the default.
    case newestPerColumn
    /// The newest change wins with all its values; all values of the other change are discarded.
    case wholeRow
    /// Both changes stay: the one that the server receives later changes a copy of the row.
    case keepBoth
    /// The newest value wins, column by column, and the app receives both values, so that it can ask its user.
    case ask
}

/// The policies of the tables of an app. The device and the server have the same ones.
package struct ConflictPolicies: Sendable {
    private let tables: Columns<ConflictPolicy>

    /// - Parameter tables: The policies by table. Other tables have ``ConflictPolicy/newestPerColumn``.
    package init(_ tables: Columns<ConflictPolicy> = [:]) { self.tables = tables }

    /// Whether a change of a row can change a copy of it instead.
    var makeCopies: Bool { tables.contains { $0.value == .keepBoth } }

    package subscript(table table: String) -> ConflictPolicy { tables[table] ?? .newestPerColumn }
}
