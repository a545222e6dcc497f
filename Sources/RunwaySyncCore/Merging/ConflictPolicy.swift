/// The treatment of concurrent changes of one row, for each table (rule 7).
///
/// Two changes are concurrent if neither device had seen the other's change when it wrote.
public enum ConflictPolicy: Sendable {
    /// The newest value wins, for each column. The default.
    case newestPerColumn
    /// The newest row wins; the other's values are dropped.
    case wholeRow
    /// Both stay: the change that the server receives later goes to a copy of the row.
    case keepBoth
    /// The newest value wins for now, and the app gets both, to ask its user.
    case ask
}

/// The policies of the tables of an app. Both halves have the same.
package struct ConflictPolicies: Sendable {
    private let tables: [String: ConflictPolicy]

    /// - Parameter tables: The policies by table. Other tables have ``ConflictPolicy/newestPerColumn``.
    package init(_ tables: [String: ConflictPolicy] = [:]) { self.tables = tables }

    package subscript(table table: String) -> ConflictPolicy { tables[table] ?? .newestPerColumn }
}
