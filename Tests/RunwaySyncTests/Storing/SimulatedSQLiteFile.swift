import Foundation
import GRDB
import RunwaySyncCore
import RunwaySyncSimulator
import RunwayTables
import Testing

@testable import RunwaySync

/// The file of a simulated device in SQLite, with the triggers and the store of a real one. A copy of the value is a
/// copy of the file.
struct SimulatedSQLiteFile: SimulatedFile {
    private static let space = Identifier(high: 7, low: 7)
    private static let tables = ["note", "sheet", "draft", "question"]

    /// A database with one space, which is removed with the last reference.
    private final class File {
        private let folder: TemporaryFolder
        private let url: URL
        let queue: DatabaseQueue
        let capture = File.makeCapture()

        /// Opens a file.
        ///
        /// - Parameter url: The default is a new file.
        private init(in folder: TemporaryFolder, at url: URL? = nil) throws {
            self.folder = folder
            self.url = url ?? folder.url.appending(path: "\(UUID()).sqlite")
            queue = try DatabaseQueue(path: self.url.path, configuration: Self.configuration)
        }

        deinit {
            try? queue.close()
            try? FileManager.default.removeItem(at: url)
        }

        convenience init(device: Identifier, in folder: TemporaryFolder) throws {
            try self.init(in: folder)
            try queue.write { database in
                for table in SimulatedSQLiteFile.tables {
                    try database.execute(
                        sql: """
                            CREATE TABLE \(table) (
                                id BLOB NOT NULL PRIMARY KEY, spaceId BLOB NOT NULL, a TEXT, b TEXT, n INTEGER, c TEXT)
                            STRICT
                            """)
                }
                try capture.prepare(database)
                let store = try capture.store(of: SimulatedSQLiteFile.space, in: database)
                store.setState(DeviceState(device: device))
                try store.finish()
            }
        }

        convenience init(copying other: File) throws {
            try self.init(in: other.folder)
            try other.queue.backup(to: queue)
            try queue.write { try capture.readShapes($0) }
        }

        private static var configuration: Configuration {
            var configuration = Configuration()
            configuration.prepareDatabase { database in
                // No process and no machine ends here, so that nothing has to be on the drive.
                try database.execute(sql: "PRAGMA recursive_triggers = ON; PRAGMA synchronous = OFF")
            }
            return configuration
        }

        private static func makeCapture() -> ChangeCapture {
            let policies: [String: ConflictPolicy] = ["sheet": .wholeRow, "draft": .keepBoth, "question": .ask]
            return ChangeCapture(
                SimulatedSQLiteFile.tables.map { table in
                    CapturedTable(
                        name: table, synced: Synced(column: "spaceId", conflicts: policies[table] ?? .newestPerColumn))
                })
        }
    }

    private var file: File

    init(device: Identifier, in folder: TemporaryFolder) throws { file = try File(device: device, in: folder) }

    /// Ends all that the process remembers, and opens the file again.
    mutating func reload() throws { file = try File(copying: file) }

    private func read<Value>(_ body: (SQLiteDeviceStore) throws -> Value) throws -> Value {
        try file.queue.write { try body(file.capture.store(of: Self.space, in: $0)) }
    }

    private mutating func change<Value>(_ body: (inout SQLiteDeviceStore) throws -> Value) throws -> Value {
        if !isKnownUniquelyReferenced(&file) { file = try File(copying: file) }
        return try file.queue.write { database in
            var store = try file.capture.store(of: Self.space, in: database)
            var value: Value?
            try store.applying { value = try body(&store) }
            try store.finish()
            return try #require(value)
        }
    }

    var state: DeviceState { get throws { try read { $0.state } } }
    func captured() throws -> [CapturedTransaction] { try read { try $0.captured() } }
    func outgoing() throws -> [Outgoing] { try read { try $0.outgoing() } }
    mutating func put(_ outgoing: Outgoing) throws { try change { try $0.put(outgoing) } }

    mutating func updateAll(
        _ batch: BatchUpdate, by process: SyncDevice, at milliseconds: Int64, using random: inout SeededRandom
    ) throws { try change { try process.updateAll(batch, at: milliseconds, in: &$0, using: &random) } }

    mutating func seal(by process: SyncDevice, at milliseconds: Int64, using random: inout SeededRandom) throws {
        try change { try process.seal(at: milliseconds, in: &$0, using: &random) }
    }

    mutating func handle(
        _ event: SyncDevice.Event, by process: inout SyncDevice, at milliseconds: Int64,
        using random: inout SeededRandom
    ) throws -> [SyncDevice.Effect] {
        try change { try process.handle(event, at: milliseconds, in: &$0, using: &random) }
    }

    var rows: [RowKey: SyncRow] {
        get throws { try read { store in try dictionary(store.keys(in: "runway_sync_row")) { try store.row($0) } } }
    }

    var shownRows: [RowKey: Columns<SyncValue>] {
        get throws {
            try read { store in
                var keys: [RowKey] = []
                for shape in file.capture.allShapes {
                    keys += try DatabaseValue.fetchAll(
                        store.database, sql: shape.keys, arguments: [Self.space.databaseValue]
                    ).compactMap { Identifier($0).map { RowKey(shape.name, $0) } }
                }
                return try dictionary(keys) { key in
                    // The server's own inserts may lack columns, which are then NULL in a table.
                    let row = try store.row(key)
                    return try (store.shown(key) ?? [:]).filter { $1 != .null || row.columns[$0] != nil }
                }
            }
        }
    }

    private func dictionary<Value>(_ keys: [RowKey], _ value: (RowKey) throws -> Value) throws -> [RowKey: Value] {
        try Dictionary(keys.map { ($0, try value($0)) }, uniquingKeysWith: { first, _ in first })
    }

    /// Writes by statements of SQL, as an app does.
    mutating func write(_ values: [(key: RowKey, values: Columns<SyncValue>?)], at milliseconds: Int64) throws {
        if !isKnownUniquelyReferenced(&file) { file = try File(copying: file) }
        file.capture.setClock { milliseconds }
        defer { file.capture.setClock(nil) }
        try file.queue.write { database in
            try file.capture.willWrite(database)
            for (key, values) in values {
                guard let values else {
                    try database.execute(
                        sql: "DELETE FROM \(key.table) WHERE id = ?", arguments: [key.id.databaseValue])
                    continue
                }
                let names = values.map(\.name)
                let stored = values.map { $0.value.databaseValue }
                try database.execute(
                    sql: """
                        INSERT INTO \(key.table) (id, spaceId, \(names.joined(separator: ", ")))
                            VALUES (?, ?\(String(repeating: ", ?", count: names.count))) ON CONFLICT DO UPDATE SET
                            \(names.map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
                        """,
                    arguments: StatementArguments([key.id.databaseValue, Self.space.databaseValue] + stored))
            }
            try file.capture.didWrite(database)
        }
    }
}
