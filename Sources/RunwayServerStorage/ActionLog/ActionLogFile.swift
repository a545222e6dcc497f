public import Foundation
import GRDB
public import RunwayServer

/// Reads the file of a ``SQLiteActionLogSink``, also while a server writes it. All functions block.
///
/// ```swift
/// for count in try ActionLogFile(at: folder.appending(path: "actions.sqlite")).counts() {
///     print(count.installation, count.name, count.count)
/// }
/// ```
public struct ActionLogFile: Sendable {
    /// `highest` is the greatest number of a stream. A record without contents has no name.
    static let schema = ServerDatabase.Schema(
        applicationID: 0x5257_414C, version: 1,
        tables: """
            CREATE TABLE stream (installation BLOB NOT NULL, id BLOB NOT NULL, highest INTEGER NOT NULL,
                PRIMARY KEY (installation, id)) WITHOUT ROWID;
            CREATE TABLE record (sequence INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, installation BLOB NOT NULL,
                stream BLOB NOT NULL, batch INTEGER NOT NULL, received INTEGER NOT NULL, account TEXT, name TEXT,
                json BLOB);
            CREATE INDEX record_by_account ON record (account) WHERE account IS NOT NULL;
            """)

    private let url: URL

    /// Names a file; each function opens and closes it.
    public init(at file: URL) { url = file }

    /// The number of records by installation and name, most first within an installation.
    ///
    /// - Throws: ``ServerStorageError``.
    public func counts() throws(ServerStorageError) -> [ActionLogCount] {
        try ServerDatabase.read(url, Self.schema) { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT installation, name, count(*) FROM record WHERE name IS NOT NULL
                    GROUP BY installation, name ORDER BY installation, count(*) DESC, name
                    """
            ).map { row in
                ActionLogCount(
                    installation: try UUID(row, 0), name: String.fromDatabaseValue(row[1]) ?? "",
                    count: Int.fromDatabaseValue(row[2]) ?? 0)
            }
        }
    }

    /// Records in the order in which they were stored, without those whose contents were removed.
    ///
    /// - Parameters:
    ///   - sequence: The last `StoredAction/sequence` that is not wanted. The default, 0, begins with the first record.
    ///   - limit: The most records. The default is 1,000.
    /// - Throws: ``ServerStorageError``.
    public func records(after sequence: Int64 = 0, limit: Int = 1000) throws(ServerStorageError) -> [StoredAction] {
        try ServerDatabase.read(url, Self.schema) { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT sequence, id, installation, name, json FROM record
                    WHERE sequence > ? AND name IS NOT NULL ORDER BY sequence LIMIT ?
                    """,
                arguments: [sequence, limit]
            ).map { row in
                StoredAction(
                    sequence: Int64.fromDatabaseValue(row[0]) ?? 0, id: try UUID(row, 1),
                    installation: try UUID(row, 2), name: String.fromDatabaseValue(row[3]) ?? "",
                    json: Array(Data.fromDatabaseValue(row[4]) ?? Data()))
            }
        }
    }
}
