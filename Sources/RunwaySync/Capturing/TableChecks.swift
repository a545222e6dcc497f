import GRDB
import RunwayTables

/// Refuses tables whose rows another device could write so that this device can't store them (rule 15).
struct TableChecks {
    let table: CapturedTable
    let database: Database

    /// Returns the reasons why a table can't be synchronised, in sentences.
    func problems() throws -> [String] {
        guard try database.tableExists(table.name) else { return ["There is no table \(table.name)."] }
        let columns = try database.columns(in: table.name)
        let keys = columns.filter { $0.primaryKeyIndex > 0 }
        var problems: [String] = []
        func refuse(_ isRefused: Bool, _ reason: String) {
            if isRefused { problems.append("\(table.name) \(reason).") }
        }
        refuse(
            table.hasSecrets && !table.synced.devicesShareKeys,
            "has secret columns, and does not declare that all devices open them")
        refuse(
            table.hasSecrets && table.synced.conflicts == .keepBoth,
            "has secret columns, whose values can't be read in a copy of their row")
        refuse(keys.count != 1 || keys[0].type.uppercased() != "BLOB", "has no single UUID as its key")
        let space = columns.first { $0.name.lowercased() == table.synced.spaceColumn.lowercased() }
        refuse(space?.type.uppercased() != "BLOB", "has no column \(table.synced.spaceColumn) of UUIDs for its space")
        for column in columns where column.isNotNull && column.defaultValueSQL == nil {
            let isFilled = column.primaryKeyIndex > 0 || column.name == space?.name
            refuse(!isFilled, "requires \(column.name), which has no default")
        }
        let indexes = try Row.fetchAll(database, sql: "SELECT * FROM pragma_index_list(?)", arguments: [table.name])
        for index in indexes where index["unique"] == 1 && index["origin"] != "pk" {
            refuse(true, "has the unique index \(index["name"] ?? "")")
        }
        let foreignKeys = try Row.fetchAll(
            database, sql: "SELECT * FROM pragma_foreign_key_list(?)", arguments: [table.name])
        refuse(
            foreignKeys.contains { $0["on_delete"] == "RESTRICT" || $0["on_update"] == "RESTRICT" }, "uses RESTRICT")
        let sql = try String.fetchOne(
            database, sql: "SELECT sql FROM sqlite_master WHERE type = 'table' AND lower(name) = lower(?)",
            arguments: [table.name])
        let words = SQLWords(sql ?? "").words
        refuse(words.contains("check"), "has a CHECK")
        refuse(zip(words, words.dropFirst()).contains { $0 == ("without", "rowid") }, "is WITHOUT ROWID")
        return problems
    }

    /// Returns the triggers of the app that write one of these tables. Each device would run them again for a change
    /// that another device made.
    static func triggers(writing tables: [CapturedTable], in database: Database) throws -> [String] {
        let names = Set(tables.map { $0.name.lowercased() })
        let rows = try Row.fetchAll(
            database,
            sql: "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name NOT GLOB 'runway_*'")
        return rows.compactMap { row -> String? in
            let (name, sql): (String, String?) = (row["name"], row["sql"])
            let words = SQLWords(sql ?? "").words
            guard let start = words.firstIndex(of: "begin") else { return nil }
            let writes = words[start...].indices.contains { names.contains(words.tableWritten(at: $0)) }
            return writes ? "The trigger \(name) writes a synchronised table." : nil
        }
    }
}

extension [String] {
    /// Returns the name of the table that the clause at an index writes; an empty text if no such clause begins there.
    fileprivate func tableWritten(at index: Int) -> String {
        func word(_ offset: Int) -> String { self.indices.contains(index + offset) ? self[index + offset] : "" }
        let offset: Int
        switch (word(0), word(1)) {
        case ("into", _): offset = 1
        case ("delete", "from"): offset = 2
        case ("update", "or"): offset = 3
        case ("update", _): offset = 1
        default: return ""
        }
        return word(offset)
    }
}

/// The words of a statement in lower case, without comments, texts and quotation marks around names.
struct SQLWords {
    private(set) var words: [String] = []

    init(_ sql: String) {
        var rest = Substring(sql)
        while let first = rest.first {
            if rest.hasPrefix("--") {
                rest = rest.drop { !$0.isNewline }
            } else if rest.hasPrefix("/*") {
                rest = rest.firstRange(of: "*/").map { rest[$0.upperBound...] } ?? ""
            } else if first == "'" {
                rest = rest.dropFirst().drop { $0 != "'" }.dropFirst()
            } else if let end = ["\"": "\"", "`": "`", "[": "]"][first] as Character? {
                let name = rest.dropFirst().prefix { $0 != end }
                words.append(name.lowercased())
                rest = rest[name.endIndex...].dropFirst()
            } else if first.isLetter || first == "_" {
                let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "$" }
                words.append(word.lowercased())
                rest = rest[word.endIndex...]
            } else {
                rest = rest.dropFirst()
            }
        }
    }
}
