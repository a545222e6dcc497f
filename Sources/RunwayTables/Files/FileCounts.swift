import GRDB

/// Counts in the database how many rows name each file.
///
/// Triggers count in the transaction of each change, whichever program writes: this store, another process, SQL of the
/// app's own, or an older build that does not know the column.
enum FileCounts {
    private static let tableName = "runway_file"
    private static let triggerPrefix = "runway_file_"

    /// A column whose changes are counted.
    private struct Counted {
        let table: String
        let column: String

        func triggerName(_ event: String) -> String { "\(triggerPrefix)\(event) \(table).\(column)" }

        func isSame(as other: Counted) -> Bool {
            (table.lowercased(), column.lowercased()) == (other.table.lowercased(), other.column.lowercased())
        }
    }

    /// Whether one of these tables has a column of files, or the database has counts already.
    static func areUsed(by layouts: [TableLayout], in database: Database) throws -> Bool {
        try layouts.contains { $0.columns.contains(where: \.isFile) } || database.tableExists(tableName)
    }

    /// Creates the table and triggers that are absent.
    ///
    /// - Parameter held: A column of another module; `nil` if no module has one.
    static func prepare(for layouts: [TableLayout], _ held: HeldFiles?, in database: Database) throws {
        database.clearSchemaCache()
        try database.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS \(tableName) (
                    name TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT, WITHOUT ROWID;
                CREATE INDEX IF NOT EXISTS \(triggerPrefix)unnamed ON \(tableName) (name) WHERE count < 1
                """)
        let counted = try countedColumns(in: database)
        var declared = layouts.flatMap { layout in
            layout.columns.filter(\.isFile).map { Counted(table: layout.name, column: $0.name) }
        }
        if let held { declared.append(Counted(table: held.table, column: held.column)) }
        let absent = declared.filter { column in !counted.contains { $0.isSame(as: column) } }
        if !absent.isEmpty { try count(absent + counted, in: database) }
    }

    /// Runs statements that change the schema, without the triggers, and then counts again and creates the triggers.
    ///
    /// SQLite refuses to drop a column that a trigger names.
    static func pausing(in database: Database, _ change: () throws -> Void) throws {
        let counted = try countedColumns(in: database)
        for name in try triggerNames(in: database) {
            try database.execute(sql: "DROP TRIGGER \(name.quotedName)")
        }
        try change()
        if !counted.isEmpty { try count(counted, in: database) }
    }

    static func isNamed(_ file: StoredFile, in database: Database) throws -> Bool {
        let sql = "SELECT count > 0 FROM \(tableName) WHERE name = ?"
        return try Bool.fetchOne(try database.cachedStatement(sql: sql), arguments: [file.name]) ?? false
    }

    static func named(in database: Database) throws -> Set<String> {
        try String.fetchSet(database, sql: "SELECT name FROM \(tableName) WHERE count > 0")
    }

    /// Returns names of files that rows named before and that no row names now.
    static func unnamed(limit: Int, in database: Database) throws -> [String] {
        let sql = "SELECT name FROM \(tableName) WHERE count < 1 LIMIT ?"
        return try String.fetchAll(try database.cachedStatement(sql: sql), arguments: [limit])
    }

    /// Returns the number of files that rows named before and that no row names now.
    static func unnamedCount(in database: Database) throws -> Int {
        let sql = "SELECT COUNT(*) FROM \(tableName) WHERE count < 1"
        return try Int.fetchOne(try database.cachedStatement(sql: sql)) ?? 0
    }

    /// Removes texts that no row contains and that can't be names of files.
    ///
    /// GRDB reads a text up to its first NUL, and replaces invalid UTF-8: the result would be another name.
    static func forgetMalformed(in database: Database) throws {
        try database.execute(
            sql: """
                DELETE FROM \(tableName) WHERE count < 1
                    AND (length(CAST(name AS BLOB)) <> length(name) OR name GLOB '*[^0-9a-f-]*')
                """)
    }

    /// Removes the count of a name that no row has.
    static func forget(_ name: String, in database: Database) throws {
        try database.execute(sql: "DELETE FROM \(tableName) WHERE name = ? AND count < 1", arguments: [name])
    }

    private static func triggerNames(in database: Database) throws -> [String] {
        let sql = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name GLOB '\(triggerPrefix)*'"
        return try String.fetchAll(database, sql: sql)
    }

    private static func countedColumns(in database: Database) throws -> [Counted] {
        let names = Set(try triggerNames(in: database))
        if names.isEmpty { return [] }
        let sql = "SELECT DISTINCT tbl_name FROM sqlite_master WHERE type = 'trigger'"
        return try String.fetchAll(database, sql: sql).flatMap { table in
            try database.columns(in: table).map { Counted(table: table, column: $0.name) }
        }.filter { names.contains($0.triggerName("insert")) }
    }

    /// Creates the triggers of the columns that exist, and counts the rows that name each file.
    private static func count(_ columns: [Counted], in database: Database) throws {
        try database.execute(sql: "DELETE FROM \(tableName)")
        for column in columns where try database.tableExists(column.table) {
            // Takes the name as it is spelled in the file, by which the triggers are found again.
            let found = try database.columns(in: column.table).map { Counted(table: column.table, column: $0.name) }
            guard let column = found.first(where: { $0.isSame(as: column) }) else { continue }
            let (table, name) = (column.table.quotedName, column.column.quotedName)
            try database.execute(
                sql: """
                    INSERT INTO \(tableName) SELECT \(name), COUNT(*) FROM \(table) WHERE typeof(\(name)) = 'text' GROUP BY 1
                        ON CONFLICT (name) DO UPDATE SET count = count + excluded.count
                    """)
            try createTriggers(of: column, table, name, in: database)
        }
    }

    private static func createTriggers(
        of column: Counted, _ table: String, _ name: String, in database: Database
    ) throws {
        // Not with ON CONFLICT: SQLite would use the conflict clause of the statement that fires the trigger instead.
        let adding = """
            INSERT INTO \(tableName) SELECT NEW.\(name), 0
                WHERE typeof(NEW.\(name)) = 'text' AND NOT EXISTS (SELECT 1 FROM \(tableName) WHERE name = NEW.\(name));
            UPDATE \(tableName) SET count = count + 1 WHERE name = NEW.\(name);
            """
        let removing = "UPDATE \(tableName) SET count = count - 1 WHERE name = OLD.\(name);"
        for (event, kind, condition, work) in [
            ("insert", "INSERT", "NEW.\(name) IS NOT NULL", adding),
            ("update", "UPDATE OF \(name)", "OLD.\(name) IS NOT NEW.\(name)", adding + removing),
            ("delete", "DELETE", "OLD.\(name) IS NOT NULL", removing),
        ] {
            try database.execute(
                sql: """
                    CREATE TRIGGER IF NOT EXISTS \(column.triggerName(event).quotedName)
                        AFTER \(kind) ON \(table) WHEN \(condition) BEGIN \(work) END
                    """)
        }
    }
}

extension String {
    /// The name in SQL. GRDB's `quotedDatabaseIdentifier` does not double quotation marks, with which a name in a
    /// hostile file could end, and go on as statements.
    fileprivate var quotedName: String { "\"\(replacing("\"", with: "\"\""))\"" }
}
