import GRDB
import RunwaySQLite

/// What the owner of a journal sets, and must not forget at the end of the process.
extension Journal {
    /// The value of a setting; `nil` if there is none.
    func setting(_ name: String) throws(StorageError) -> String? {
        try write { database in
            try String.fetchOne(database, sql: "SELECT value FROM setting WHERE name = ?", arguments: [name])
        }
    }

    /// The settings whose names begin with a text, by their names.
    func settings(beginning text: String) throws(StorageError) -> [String: String] {
        try write { database in
            let rows = try Row.fetchAll(
                database, sql: "SELECT name, value FROM setting WHERE substr(name, 1, ?) = ?",
                arguments: [text.count, text])
            var settings: [String: String] = [:]
            for row in rows { settings[try row.value(0)] = try row.value(1) as String }
            return settings
        }
    }

    /// Stores a setting; with `nil`, removes it.
    func set(_ name: String, _ value: String?) throws(StorageError) {
        try write { database in
            if let value {
                try database.execute(sql: "REPLACE INTO setting VALUES (?, ?)", arguments: [name, value])
            } else {
                try database.execute(sql: "DELETE FROM setting WHERE name = ?", arguments: [name])
            }
        }
    }
}
