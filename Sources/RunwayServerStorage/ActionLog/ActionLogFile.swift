public import Foundation
import GRDB
import RunwaySQLite
public import RunwayServer

/// Reads the file of a ``SQLiteActionLogSink``, even while a server writes it. All functions block.
///
/// ```swift
/// for count in try ActionLogFile(at: folder.appending(path: "actions.sqlite")).counts() {
///     print(count.installation, count.name, count.count)
/// }
/// ```
public struct ActionLogFile: Sendable {
    /// - `highest` is the highest batch number of a stream.
    /// - A record without contents has no name.
    /// - `bytes` is the size of an installation's record contents, for `ActionLogQuotas`.
    /// - `checksum` is a ``RowChecksum`` of the row. It is NULL in rows of the first version and in records without
    ///   contents.
    static let schema = ServerDatabase.Schema(
        applicationID: 0x5257_414C,
        tables: """
            CREATE TABLE stream (installation BLOB NOT NULL, id BLOB NOT NULL, highest INTEGER NOT NULL,
                PRIMARY KEY (installation, id)) WITHOUT ROWID;
            CREATE TABLE record (sequence INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, installation BLOB NOT NULL,
                stream BLOB NOT NULL, batch INTEGER NOT NULL, received INTEGER NOT NULL, account TEXT, name TEXT,
                json BLOB);
            CREATE INDEX record_by_account ON record (account) WHERE account IS NOT NULL;
            """,
        migrations: [
            """
            ALTER TABLE record ADD COLUMN sent INTEGER; ALTER TABLE record ADD COLUMN checksum INTEGER;
            ALTER TABLE stream ADD COLUMN checksum INTEGER;
            """,
            """
            CREATE INDEX record_by_installation ON record (installation) WHERE account IS NULL AND name IS NOT NULL;
            """,
            """
            CREATE TABLE usage (installation BLOB PRIMARY KEY, bytes INTEGER NOT NULL) WITHOUT ROWID;
            INSERT INTO usage SELECT installation, sum(bytes) FROM (
                SELECT installation, \(ActionLogBatch.rowByteCount) + \(contentByteCount) AS bytes FROM record
                UNION ALL SELECT installation, \(ActionLogBatch.rowByteCount) FROM stream)
            GROUP BY installation;
            """,
        ])

    /// Computes the size of a record's contents that counts towards the quota of its installation.
    static let contentByteCount = """
        ifnull(length(json), 0) + ifnull(length(CAST(name AS BLOB)), 0) + ifnull(length(CAST(account AS BLOB)), 0)
        """

    private let url: URL

    /// Creates a reader of a file. Each function opens and closes the file.
    public init(at file: URL) { url = file }

    /// Returns the number of records for each installation and name, most frequent first within an installation.
    ///
    /// Checksums are not compared: damaged records count under their current, possibly damaged, names. See
    /// ``damagedRecords()``.
    ///
    /// - Throws: ``ServerStorageError``.
    public func counts() throws(ServerStorageError) -> [(installation: UUID, name: String, count: Int)] {
        try ServerDatabase.read(url, Self.schema) { database, _ in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT installation, name, count(*) FROM record WHERE name IS NOT NULL
                    GROUP BY installation, name ORDER BY installation, count(*) DESC, name
                    """
            ).map { row in
                (
                    installation: try UUID(row, 0), name: String.fromDatabaseValue(row[1]) ?? "",
                    count: Int.fromDatabaseValue(row[2]) ?? 0
                )
            }
        }
    }

    /// Returns records in the order of storage. Omits damaged records and records whose contents were removed.
    ///
    /// - Parameters:
    ///   - sequence: The `StoredAction/sequence` after which to begin. The default, 0, begins with the first record.
    ///   - limit: The maximum number of records to read. The default is 1,000.
    /// - Throws: ``ServerStorageError``.
    public func records(after sequence: Int64 = 0, limit: Int = 1000) throws(ServerStorageError) -> [StoredAction] {
        try ServerDatabase.read(url, Self.schema) { database, version in
            try Self.rows(database, version, after: sequence, limit: limit).compactMap { StoredAction($0) }
        }
    }

    /// Returns the `StoredAction/sequence` of each record whose bytes have changed on disk since it was stored. Reads
    /// all records.
    ///
    /// The ids by which the server recognises records are also in an index, which is not checked.
    ///
    /// - Throws: ``ServerStorageError``; ``ServerStorageError/Kind/corrupted`` if the structure of the file is damaged.
    public func damagedRecords() throws(ServerStorageError) -> [Int64] {
        var damaged: [Int64] = []
        var last: Int64? = 0
        while let start = last {
            // Each page has its own transaction, since a long transaction would prevent checkpoints of the write-ahead
            // log.
            last = try ServerDatabase.read(url, Self.schema) { database, version -> Int64? in
                let rows = try Self.rows(database, version, after: start, limit: 1000)
                for row in rows where StoredAction(row) == nil { damaged.append(try row.value(0)) }
                return try rows.last.map { try $0.value(0) }
            }
        }
        return damaged
    }

    private static func rows(
        _ database: Database, _ version: Int, after sequence: Int64, limit: Int
    ) throws -> [Row] {
        try Row.fetchAll(
            database,
            sql: """
                SELECT sequence, id, installation, stream, batch, received, account, name, json,
                \(version < 2 ? "NULL, NULL" : "sent, checksum") FROM record
                WHERE sequence > ? AND name IS NOT NULL ORDER BY sequence LIMIT ?
                """,
            arguments: [sequence, limit])
    }
}

extension StoredAction {
    /// Reads a row. Returns `nil` if the row has changed since it was written.
    fileprivate init?(_ row: Row) {
        guard let sequence = Int64.fromDatabaseValue(row[0]), let id = UUID.fromDatabaseValue(row[1]),
            let installation = UUID.fromDatabaseValue(row[2]), let stream = UUID.fromDatabaseValue(row[3]),
            let number = Int64.fromDatabaseValue(row[4]), let received = Int64.fromDatabaseValue(row[5]),
            let name = String.fromDatabaseValue(row[7]), let json = Data.fromDatabaseValue(row[8])
        else { return nil }
        let sent = Int64.fromDatabaseValue(row[9])
        let checksum = RowChecksum.of(
            ActionLogBatch.Record(id: id, name: name, json: Array(json)), installation: installation, stream: stream,
            number: number, received: received, account: String.fromDatabaseValue(row[6]), sent: sent)
        let stored: DatabaseValue = row[10]
        guard stored.isNull || Int64.fromDatabaseValue(stored) == checksum else { return nil }
        self.init(
            sequence: sequence, id: id, installation: installation, name: name, json: Array(json),
            received: Date(milliseconds: received), sent: sent.map { Date(milliseconds: $0) })
    }
}

extension Date {
    /// The time in whole milliseconds since 1970, clamped to a range that every platform can represent.
    var milliseconds: Int64 { Int64(max(-1e15, min(timeIntervalSince1970 * 1000, 1e15))) }

    init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}

extension RowChecksum {
    static func of(
        _ record: ActionLogBatch.Record, installation: UUID, stream: UUID, number: Int64, received: Int64,
        account: String?, sent: Int64?
    ) -> Int64 {
        var sum = of(highest: number, installation: installation, stream: stream)
        sum.add(received)
        sum.add(Array(record.id.data))
        sum.add(optional: account)
        sum.add(record.name)
        sum.add(record.json)
        sum.add(optional: sent.map { "\($0)" })
        return sum.value
    }

    static func of(highest: Int64, installation: UUID, stream: UUID) -> RowChecksum {
        var sum = RowChecksum()
        sum.add(Array(installation.data))
        sum.add(Array(stream.data))
        sum.add(highest)
        return sum
    }
}
