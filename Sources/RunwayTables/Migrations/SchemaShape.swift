import GRDB

/// The schema of a file, as far as programs notice it, without the tables of SQLite, GRDB and this module.
struct SchemaShape: Equatable {
    private struct ColumnShape: Equatable {
        let name: String
        let type: String
        let isNotNull: Bool
        let defaultSQL: String?
        let keyPosition: Int
    }

    private struct TableShape: Equatable {
        let columns: [ColumnShape]
        let indexes: [String: IndexFacts]
        let constraints: Set<String>
    }

    private var tables: [String: TableShape] = [:]

    init(of database: Database) throws {
        for name in try Self.tableNames(in: database) {
            let columns = try database.columns(in: name).map {
                ColumnShape(
                    name: $0.name, type: $0.type.uppercased(), isNotNull: $0.isNotNull, defaultSQL: $0.defaultValueSQL,
                    keyPosition: $0.primaryKeyIndex)
            }
            let indexes = try database.indexes(on: name).map {
                ($0.name, IndexFacts(name: $0.name, columns: $0.columns, isUnique: $0.isUnique))
            }
            tables[name] = TableShape(
                // Sorted, since a column that was dropped and added again comes last.
                columns: columns.sorted { $0.name < $1.name },
                indexes: Dictionary(indexes, uniquingKeysWith: { first, _ in first }),
                constraints: try database.constraints(of: name))
        }
    }

    private static func tableNames(in database: Database) throws -> [String] {
        try String.fetchAll(database, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
            .filter { !$0.hasPrefix("sqlite_") && !$0.hasPrefix("grdb_") && !$0.hasPrefix("runway_") }
    }

    /// Returns the number of rows of each table.
    static func rowCounts(in database: Database) throws -> [String: Int] {
        try tableNames(in: database).reduce(into: [:]) { counts, name in
            counts[name] = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM \(name.quotedDatabaseIdentifier)")
        }
    }

    /// Returns the tables that differ.
    func differences(from other: SchemaShape) -> [String] {
        Set(tables.keys).union(other.tables.keys).filter { tables[$0] != other.tables[$0] }.sorted()
    }
}
