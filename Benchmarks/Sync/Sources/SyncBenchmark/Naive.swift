import Foundation
import GRDB

@testable import RunwaySyncCore

#if PostgreSQL
    @testable import RunwayPostgreSQL
#endif

// The control: a value wins if its clock is larger than the one that is stored for its column. There is no log, no
// order of deletions, no verdict and no repetition that is recognised.

/// The columns of an operation, as the naive versions store them.
private struct NaiveCells {
    let row: String
    let cells: [(name: String, value: String)]

    init?(_ operation: RunwaySyncCore.Operation) {
        guard case .insert(let key, _, let columns) = operation.action else { return nil }
        row = "\(key.id)"
        cells = columns.map { ($0.name, NaiveCells.text($0.value)) }
    }

    private static func text(_ value: SyncValue) -> String {
        switch value {
        case .text(let text): text
        case .integer(let integer): "\(integer)"
        case .real(let real): "\(real)"
        case .null, .bytes: ""
        }
    }

    static let creation = """
        CREATE TABLE IF NOT EXISTS naive_cell (space TEXT, item TEXT, name TEXT, value TEXT, clock BIGINT,
            PRIMARY KEY (space, item, name))
        """
    static let upsert = """
        INSERT INTO naive_cell VALUES ($1, $2, $3, $4, $5) ON CONFLICT (space, item, name)
            DO UPDATE SET value = excluded.value, clock = excluded.clock WHERE naive_cell.clock < excluded.clock
        """
}

extension Packet {
    fileprivate var cells: [(cells: NaiveCells, clock: Int64)] {
        transactions.flatMap { transaction in
            transaction.operations.compactMap { operation in
                NaiveCells(operation).map { ($0, transaction.number) }
            }
        }
    }
}

/// A server with a transaction for each packet, and a statement for each column.
struct NaiveSQLiteServer: Sendable {
    private let queue: DatabaseQueue

    init(at file: URL) throws {
        queue = try DatabaseQueue(path: file.path, configuration: .durable)
        try queue.write { try $0.execute(sql: NaiveCells.creation) }
    }

    func push(_ packet: Packet, in space: String) async throws {
        let cells = packet.cells
        try await queue.write { database in
            let statement = try database.cachedStatement(sql: NaiveCells.upsert)
            for (row, clock) in cells {
                for (name, value) in row.cells {
                    try statement.execute(arguments: [space, row.row, name, value, clock])
                }
            }
        }
    }
}

extension Configuration {
    /// Commits are on the drive when they return, as those of the stores.
    static var durable: Configuration {
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
        }
        return configuration
    }
}

#if PostgreSQL
    /// The same over PostgreSQL.
    struct NaivePostgreSQLServer: Sendable {
        private let pool: PostgreSQLPool

        init(at url: String) async throws {
            pool = PostgreSQLPool(url, connectionCount: 4)
            try await pool.create([NaiveCells.creation])
        }

        func push(_ packet: Packet, in space: String) async throws {
            let cells = packet.cells
            try await pool.transaction(for: "\(packet.device)") { connection throws(PostgreSQLError) in
                for (row, clock) in cells {
                    for (name, value) in row.cells {
                        try connection.run(NaiveCells.upsert, [space, row.row, name, value, "\(clock)"])
                    }
                }
            }
        }
    }
#endif

/// A device that stores a clock for each column beside its rows.
struct NaiveDevice {
    let queue: DatabaseQueue

    init(at file: URL) throws {
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        queue = try DatabaseQueue(path: file.path, configuration: .durable)
        try queue.write { database in
            try database.execute(sql: Notes.creatingSQL)
            try database.execute(
                sql: """
                    CREATE TABLE naive_clock (id BLOB, name TEXT, clock INTEGER, device BLOB, PRIMARY KEY (id, name))
                        WITHOUT ROWID
                    """)
        }
    }

    /// Applies the changes of a page in one transaction, with two statements for each column.
    func apply(_ page: LogPage, in space: Identifier) throws {
        try queue.write { database in
            let insert = try database.cachedStatement(
                sql: "INSERT INTO note (id, listId) VALUES (?, ?) ON CONFLICT DO NOTHING")
            let clock = try database.cachedStatement(
                sql: """
                    INSERT INTO naive_clock VALUES (?, ?, ?, ?) ON CONFLICT (id, name)
                        DO UPDATE SET clock = excluded.clock, device = excluded.device WHERE clock < excluded.clock
                    """)
            for change in page.parts.flatMap(\.entry.changes) {
                let id = Data(change.key.id.bytes)
                try insert.execute(arguments: [id, Data(space.bytes)])
                for (name, cell) in change.columns {
                    let time = Int64(bitPattern: cell.stamp.time.bits)
                    try clock.execute(arguments: [id, name, time, Data(cell.stamp.device.bytes)])
                    if database.changesCount == 0 { continue }
                    try database.cachedStatement(sql: "UPDATE note SET \"\(name)\" = ? WHERE id = ?")
                        .execute(arguments: [cell.value.naiveValue, id])
                }
            }
        }
    }
}

extension SyncValue {
    fileprivate var naiveValue: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let integer): integer.databaseValue
        case .real(let real): real.databaseValue
        case .text(let text): text.databaseValue
        case .bytes(let bytes): Data(bytes).databaseValue
        }
    }
}
