import GRDB
import RunwaySQLite

extension TableLayout {
    /// The statements that create the table and its indexes.
    ///
    /// The table is STRICT: SQLite refuses values of another type, also if another program writes them.
    var creatingSQL: [String] {
        let isInteger = assignsKeys
        var parts = columns.enumerated().map { position, column in
            var part = "\(quotedName(position)) \(column.type.rawValue)"
            if position == 0, isInteger { part += " PRIMARY KEY" }
            if !column.isNullable, !(position == 0 && isInteger) { part += " NOT NULL" }
            if let value = column.defaultValue { part += " DEFAULT \(value.literal)" }
            return part
        }
        if !isInteger { parts.append("PRIMARY KEY (\((0..<keyCount).map(quotedName).joined(separator: ", ")))") }
        let table = "CREATE TABLE \(quotedName) (\(parts.joined(separator: ", "))) STRICT"
        return [table]
            + indexes.map { index in
                let names = index.columns.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
                return "CREATE \(index.isUnique ? "UNIQUE " : "")INDEX \(index.name.quotedDatabaseIdentifier) "
                    + "ON \(quotedName) (\(names))"
            }
    }

    func create(in database: Database) throws { for sql in creatingSQL { try database.execute(sql: sql) } }

    /// Returns the differences between the table of a file and its declaration, in sentences; none if they agree.
    ///
    /// - Parameter isLenient: Whether the table is another library's: then it must have the columns and the key, and
    ///   may have others, other types and other indexes.
    func differences(in database: Database, isLenient: Bool) throws -> [String] {
        guard try database.tableExists(name) else { return ["There is no table \(name)."] }
        let found = Dictionary(
            try database.columns(in: name).map { ($0.name.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
        var sentences: [String] = []
        for column in columns {
            let title = "\(name).\(column.name)"
            guard let info = found[column.name.lowercased()] else {
                sentences.append("There is no column \(title).")
                continue
            }
            if isLenient { continue }
            if info.type.uppercased() != column.type.rawValue {
                sentences.append("\(title) is \(info.type), and declared as \(column.type.rawValue).")
            }
            if info.isNotNull == column.isNullable, !(assignsKeys && column.name == columns[0].name) {
                sentences.append(
                    "\(title) \(info.isNotNull ? "can't" : "can") be NULL, and is declared otherwise.")
            }
            if info.defaultValueSQL != column.defaultValue?.literal {
                sentences.append("\(title) has another default than declared.")
            }
        }
        let declaredKey = columns.prefix(keyCount).map { $0.name.lowercased() }
        let key = try database.primaryKey(name).columns.map { $0.lowercased() }
        if key != declaredKey, !isLenient || Set(key) != Set(declaredKey) {
            sentences.append(
                "The key of \(name) is (\(key.joined(separator: ", "))), and declared as "
                    + "(\(declaredKey.joined(separator: ", "))).")
        }
        return try isLenient ? sentences : sentences + strictDifferences(in: database, Set(found.keys))
    }

    private func strictDifferences(in database: Database, _ found: Set<String>) throws -> [String] {
        var sentences = found.subtracting(columns.map { $0.name.lowercased() }).sorted()
            .map { "The column \(name).\($0) is not declared." }
        let existing = Set(
            try database.indexes(on: name).filter { $0.origin == .createIndex }
                .map { IndexFacts(name: $0.name, columns: $0.columns, isUnique: $0.isUnique) })
        for index in indexes where !existing.contains(index) {
            sentences.append("There is no index \(index.name) on \(name) as declared.")
        }
        for index in existing.subtracting(indexes).sorted(by: { $0.name < $1.name }) {
            sentences.append("The index \(index.name) on \(name) is not declared.")
        }
        let constraints = try database.constraints(of: name)
        if !constraints.contains("STRICT") { sentences.append("\(name) is not STRICT, as declared.") }
        for constraint in constraints.subtracting(["STRICT"]).sorted() {
            sentences.append("\(name) has a \(constraint) constraint, which is not declared.")
        }
        return sentences
    }
}

extension Database {
    /// Returns the constraints of a table that GRDB does not list, as the words of SQL. Foreign keys are not included:
    /// steps may add them.
    func constraints(of table: String) throws -> Set<String> {
        let sql = """
            SELECT sql, strict FROM pragma_table_list JOIN sqlite_master USING (name, type)
            WHERE schema = 'main' AND name = ? COLLATE NOCASE
            """
        guard let row = try Row.fetchOne(self, sql: sql, arguments: [table]) else { return [] }
        let text: String = try row.value(0)
        // Without quoted names, texts and comments. Each of these words is one that SQLite reserves.
        let bare = text.replacing(/'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\/\*(?:.|\n)*?\*\//, with: " ")
        let words = Set(bare.uppercased().split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
        return words.intersection(["CHECK", "COLLATE", "UNIQUE"]).union(try row.value(1) == 1 ? ["STRICT"] : [])
    }
}

extension DatabaseValue {
    /// The value as a literal of SQL, for the default of a column. No other value is ever written into a statement.
    var literal: String {
        switch storage {
        case .null: "NULL"
        case .int64(let number): "\(number)"
        case .double(let number):
            number.isInfinite ? (number < 0 ? "-9e999" : "9e999") : "\(number)"
        case .string(let text): "'\(text.replacing("'", with: "''"))'"
        case .blob(let data):
            "X'\(data.map { (0x100 + Int($0)).hexText }.joined())'"
        }
    }
}

extension Int {
    /// The last two hexadecimal digits of a number from 0x100 on.
    fileprivate var hexText: String { String(String(self, radix: 16).suffix(2)).uppercased() }
}
