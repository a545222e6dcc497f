import Foundation
import GRDB
import RunwayServer
import RunwaySyncCore
import RunwaySyncSimulator
import Testing

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
        try run { tables in
            var tables: any SpaceTables = tables
            return try body(&tables)
        }
    }

    func removeEntries(through number: Int64) throws { try run { try $0.removeEntries(through: number) } }

    private func run<Value>(_ body: (inout any SyncTables) throws -> Value) throws -> Value {
        try queue.write { database in
            let transaction = SQLiteSyncTransaction(database, nil)
            let value = try transaction.run(.writing, in: space, body)
            try transaction.finish()
            return try #require(value)
        }
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
