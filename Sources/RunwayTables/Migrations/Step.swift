public import GRDB

/// One change of the schema or of the rows, from one version of the app to the next, with its way back.
///
/// ```swift
/// Step("due dates", sql: "ALTER TABLE task ADD COLUMN due TEXT", back: "ALTER TABLE task DROP COLUMN due")
/// ```
///
/// Never change a step that was released. Add a new step for a later change.
public struct Step: Sendable {
    enum Work: Sendable {
        case once(@Sendable (Database) throws -> Void)
        /// Changes some of the rows that are not changed yet, in its own transaction, and returns how many remain.
        case batches(@Sendable (Database) throws -> Int)
    }

    /// The name, unique among the steps of a file.
    public let name: String
    /// The SQL that undoes the step; `nil` if there is no way back.
    public let back: String?
    let work: Work

    /// Creates a step in SQL.
    ///
    /// - Parameters:
    ///   - name: The name, unique among the steps of a file.
    ///   - sql: The statements.
    ///   - back: The statements that undo the step. They are stored in the file, so that an older build, which does not
    ///     have the step, can undo it. They may use only SQL. With `nil` there is no way back, and the file can't be
    ///     downgraded past this step.
    public init(_ name: String, sql: String, back: String?) {
        self.init(name, back: back) { try $0.execute(sql: sql) }
    }

    /// Creates a step in code, which runs in one transaction. Use SQL in the code, and no ``TableDefinition``, since a
    /// later version may change it.
    ///
    /// - Parameters:
    ///   - name: The name, unique among the steps of a file.
    ///   - back: The statements that undo the step, as in ``init(_:sql:back:)``.
    ///   - change: Changes the file. After a kill or a failure it may run again, on the state before the step.
    public init(_ name: String, back: String?, _ change: @escaping @Sendable (Database) throws -> Void) {
        (self.name, self.back, work) = (name, back, .once(change))
    }

    /// Creates a large step, which runs in many transactions.
    ///
    /// Only the last transaction advances the version of the file. A batch may therefore change only data that the
    /// former version of the app ignores, such as a column that the previous step has added.
    ///
    /// - Parameters:
    ///   - name: The name, unique among the steps of a file.
    ///   - back: The statements that undo the step, as in ``init(_:sql:back:)``.
    ///   - batch: Changes some of the rows that are not changed yet, and returns the number of rows that remain. The
    ///     step is done when it returns 0, and fails when the number has not decreased for 100 batches. The closure
    ///     must find the rows by their values, so that it can continue after the process was killed.
    public init(_ name: String, back: String?, inBatches batch: @escaping @Sendable (Database) throws -> Int) {
        (self.name, self.back, work) = (name, back, .batches(batch))
    }
}

/// The progress of a migration.
public struct MigrationProgress: Sendable, Hashable {
    /// The name of the step that runs.
    public let step: String
    /// The number of the step, from 1.
    public let number: Int
    /// The number of the last step.
    public let lastNumber: Int
    /// The number of rows that a step in batches has not changed yet; `nil` for other steps.
    public let remaining: Int?
}

/// The changes of a file from version to version, oldest first.
///
/// ```swift
/// let migrations = Migrations(
///     Step("due dates", sql: "ALTER TABLE task ADD COLUMN due TEXT", back: "ALTER TABLE task DROP COLUMN due"))
/// ```
///
/// Steps change the schema of the first release. A new file is created from the declarations, and all steps count as
/// taken. In a test, ``differences(from:to:)`` shows that both ways lead to the same schema, and that each way back
/// works.
public struct Migrations: Sendable {
    let steps: [Step]

    /// Lists the steps, oldest first. The default is none.
    public init(_ steps: Step...) { self.init(steps) }

    /// Lists the steps, oldest first.
    public init(_ steps: [Step]) {
        precondition(Set(steps.map(\.name)).count == steps.count, "two steps have one name")
        self.steps = steps
    }
}
