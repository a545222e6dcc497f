import GRDB
import Synchronization

/// A table without its type: the data from which values, statements and the schema are made.
final class TableLayout: Sendable {
    let name: String
    let columns: [ColumnFacts]
    let keyCount: Int
    let indexes: [IndexFacts]
    let validate: @Sendable (RowValues, TableChange) throws -> Void
    let hasSecrets: Bool
    /// Guards the SQL of statements, by verb and columns.
    private let statements = Mutex<[StatementKey: String]>([:])

    private struct StatementKey: Hashable {
        let verb: String
        let positions: [Int]
    }

    init(
        name: String, columns: [ColumnFacts], keyCount: Int, indexes: [IndexFacts],
        validate: @escaping @Sendable (RowValues, TableChange) throws -> Void
    ) {
        // GRDB can't read the schema of tables with other names.
        precondition(
            ([name] + columns.map { $0.name } + indexes.map { $0.name }).allSatisfy { name in
                !name.isEmpty && !name.utf8.contains { [0, UInt8(ascii: "\"")].contains($0) }
            }, "the table \(name) has an empty name, or one with a quotation mark")
        precondition((1...columns.count).contains(keyCount), "the table \(name) has no primary key")
        precondition(
            Set(columns.map { $0.name.lowercased() }).count == columns.count,
            "the table \(name) has two columns of one name")
        precondition(
            columns.prefix(keyCount).allSatisfy { !$0.isNullable && !$0.isSecret },
            "the key of the table \(name) is NULL or secret")
        self.name = name
        self.columns = columns
        self.keyCount = keyCount
        self.indexes = indexes
        self.validate = validate
        hasSecrets = columns.contains { $0.isSecret }
    }

    /// Whether SQLite assigns the key of a row that is inserted without one.
    var assignsKeys: Bool { keyCount == 1 && columns[0].type == .integer }

    func position(of name: String) -> Int {
        for position in columns.indices where columns[position].name == name { return position }
        preconditionFailure("the column \(name) is not listed in the columns of the table \(self.name)")
    }

    var quotedName: String { name.quotedDatabaseIdentifier }
    func quotedName(_ position: Int) -> String { columns[position].name.quotedDatabaseIdentifier }

    /// The condition that finds the row of a key.
    var keyCondition: String { (0..<keyCount).map { "\(quotedName($0)) = ?" }.joined(separator: " AND ") }

    func insertSQL(_ positions: [Int]) -> String {
        statement("INSERT", positions) {
            if positions.isEmpty { return "INSERT INTO \(quotedName) DEFAULT VALUES" }
            let names = positions.map(quotedName).joined(separator: ", ")
            let marks = positions.map { _ in "?" }.joined(separator: ", ")
            return "INSERT INTO \(quotedName) (\(names)) VALUES (\(marks))"
        }
    }

    func updateSQL(_ positions: [Int]) -> String {
        statement("UPDATE", positions) { "UPDATE \(quotedName) SET \(assignments(positions)) WHERE \(keyCondition)" }
    }

    func selectSQL(_ positions: [Int]) -> String {
        statement("SELECT", positions) {
            "SELECT \(positions.map(quotedName).joined(separator: ", ")) FROM \(quotedName)"
        }
    }

    func assignments(_ positions: [Int]) -> String {
        positions.map { "\(quotedName($0)) = ?" }.joined(separator: ", ")
    }

    private func statement(_ verb: String, _ positions: [Int], _ make: () -> String) -> String {
        let key = StatementKey(verb: verb, positions: positions)
        return statements.withLock { statements in
            if let sql = statements[key] { return sql }
            let sql = make()
            statements[key] = sql
            return sql
        }
    }
}
