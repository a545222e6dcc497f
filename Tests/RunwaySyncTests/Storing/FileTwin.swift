import Foundation
import GRDB
import RunwaySyncCore
import RunwaySyncSimulator

@testable import RunwayServerStorage

/// The server of a run, with its tables in a SQLite file. A backup is a copy of the file.
final class FileTwin: SpaceTwin {
    private let folder: URL
    private let space = Identifier(high: 7, low: 7)
    private var queue: DatabaseQueue

    init(in folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.folder = folder
        queue = try DatabaseQueue(path: folder.appending(path: "a.sqlite").path)
        try queue.write { try SyncTableDefinitions.create(in: $0) }
    }

    func transaction<Value>(_ body: (inout any SpaceTables) throws -> Value) throws -> Value {
        try queue.write { database in
            var tables: any SpaceTables = try SQLiteSyncTables(creatingIn: database, space, hook: nil)
            return try body(&tables)
        }
    }

    func removeEntries(through number: Int64) throws {
        try queue.write { try SQLiteSyncTables(creatingIn: $0, space, hook: nil).removeEntries(through: number) }
    }

    func backUp() throws {
        let file = folder.appending(path: "backup.sqlite")
        try? FileManager.default.removeItem(at: file)
        try queue.backup(to: DatabaseQueue(path: file.path))
    }

    func restore() throws {
        try DatabaseQueue(path: folder.appending(path: "backup.sqlite").path).backup(to: queue)
    }
}
