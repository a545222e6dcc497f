import GRDB
import RunwaySQLite

/// The table in a file that lists the steps that were taken, with the way back of each.
enum StepLog {
    struct Entry: Equatable {
        let number: Int
        let name: String
        let back: String?
    }

    static let tableName = "runway_step"
    /// The table of GRDB's migrator, which takes the steps upwards.
    private static let migratorTableName = "grdb_migrations"

    static func identifier(_ name: String) -> String { "runway." + name }

    static func exists(in database: Database) throws -> Bool { try database.tableExists(tableName) }

    static func create(in database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE \(tableName) (
                    number INTEGER PRIMARY KEY, name TEXT NOT NULL, back TEXT, sum INTEGER NOT NULL) STRICT
                """)
    }

    static func append(_ step: Step, number: Int, to database: Database) throws {
        try database.execute(
            sql: "INSERT INTO \(tableName) (number, name, back, sum) VALUES (?, ?, ?, ?)",
            arguments: [number, step.name, step.back, sum(number, step.name, step.back)])
    }

    /// Records a step that a new file has from its creation, without taking it.
    static func appendTaken(_ step: Step, number: Int, to database: Database) throws {
        try append(step, number: number, to: database)
        try database.execute(
            sql: "CREATE TABLE IF NOT EXISTS \(migratorTableName) (identifier TEXT NOT NULL PRIMARY KEY)")
        try database.execute(
            sql: "INSERT INTO \(migratorTableName) VALUES (?)", arguments: [identifier(step.name)])
    }

    static func removeLast(_ entry: Entry, from database: Database) throws {
        try database.execute(sql: "DELETE FROM \(tableName) WHERE number = ?", arguments: [entry.number])
        try database.execute(
            sql: "DELETE FROM \(migratorTableName) WHERE identifier = ?", arguments: [identifier(entry.name)])
    }

    /// Returns the steps that were taken, oldest first.
    ///
    /// - Throws: ``TableError/Kind/corrupted`` if the bytes of a step have changed. A damaged way back is never
    ///   executed.
    static func entries(in database: Database) throws -> [Entry] {
        let damage = TableError(.corrupted, "The steps that the file has taken are damaged.")
        let rows: [Row]
        do {
            rows = try Row.fetchAll(database, sql: "SELECT number, name, back, sum FROM \(tableName) ORDER BY number")
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            // The table is not as it was created.
            throw damage
        }
        return try rows.enumerated().map { index, row in
            let entry = Entry(number: try row.value(0), name: try row.value(1), back: try row.optionalValue(2))
            guard entry.number == index + 1, try row.value(3) == sum(entry.number, entry.name, entry.back) else {
                throw damage
            }
            return entry
        }
    }

    private static func sum(_ number: Int, _ name: String, _ back: String?) -> Int64 {
        var sum = RowChecksum()
        sum.add(Int64(number))
        sum.add(name)
        sum.add(optional: back)
        return sum.value
    }
}
