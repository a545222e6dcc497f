import GRDB
import RunwaySQLite

/// A row of the table `setting`.
struct JournalSetting {
    var name: String
    var value: String
}

extension JournalSetting {
    static let columns = "name, value, checksum"

    /// - Throws: `SQLITE_CORRUPT` or ``DamagedColumn`` if the row is damaged.
    init(_ row: Row) throws {
        self.init(name: try row.value(0), value: try row.value(1))
        let stored: Int64 = try row.value(2)
        guard stored == checksum else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
    }

    /// Reads the setting with a name; `nil` if it does not exist.
    ///
    /// - Throws: The errors of ``init(_:)``.
    static func read(_ database: Database, _ name: String) throws -> JournalSetting? {
        try Row.fetchOne(database, sql: "SELECT \(columns) FROM setting WHERE name = ?", arguments: [name])
            .map { try JournalSetting($0) }
    }

    /// Checks all settings, since a lookup does not find a setting whose name is damaged.
    ///
    /// - Throws: The errors of ``init(_:)``.
    static func check(_ database: Database) throws {
        for row in try Row.fetchAll(database, sql: "SELECT \(columns) FROM setting") { _ = try JournalSetting(row) }
    }

    /// Stores the setting in place of a previous one with the same name.
    func write(to database: Database) throws {
        try database.cachedStatement(sql: "REPLACE INTO setting (\(Self.columns)) VALUES (?, ?, ?)")
            .execute(arguments: [name, value, checksum])
    }

    private var checksum: Int64 {
        var sum = RowChecksum()
        sum.add(name)
        sum.add(value)
        return sum.value
    }
}

/// The settings of a journal's owner, which survive the end of the process.
///
/// A damaged setting is never returned. It is an error of the kind ``StorageError/Kind/corrupted``, like damage to the
/// structure of the file.
extension Journal {
    func setting(_ name: String) throws(StorageError) -> String? {
        try write { try JournalSetting.read($0, name)?.value }
    }

    /// Returns the values of the settings whose names begin with a prefix. The keys of the result are the names without
    /// the prefix.
    func settings(beginning text: String) throws(StorageError) -> [String: String] {
        try write { database in
            let rows = try Row.fetchAll(
                database, sql: "SELECT \(JournalSetting.columns) FROM setting WHERE substr(name, 1, ?) = ?",
                arguments: [text.unicodeScalars.count, text])
            var settings: [String: String] = [:]
            for row in rows {
                let setting = try JournalSetting(row)
                // The prefix is removed by scalars, and not by characters, since a combining mark after the prefix
                // would form one character with the prefix's last scalar.
                let rest = setting.name.unicodeScalars.dropFirst(text.unicodeScalars.count)
                settings[String(rest)] = setting.value
            }
            return settings
        }
    }

    func set(_ name: String, _ value: String?) throws(StorageError) {
        try write { database in
            if let value {
                try JournalSetting(name: name, value: value).write(to: database)
            } else {
                try database.execute(sql: "DELETE FROM setting WHERE name = ?", arguments: [name])
            }
        }
    }
}
