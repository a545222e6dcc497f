import Foundation
import GRDB
import RunwayServer
import RunwaySyncCore
import RunwaySyncSimulator
import Testing

@testable import RunwayServerStorage

/// The server of a run, with its tables in a SQLite file. A backup is a copy of the file.
private final class FileTwin: SpaceTwin {
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

/// A file has to respond as the store in memory does, in runs with all faults.
struct StoreAgreementTests {
    private let folder = ScratchFolder()

    @Test func aFileAgreesWithTheStoreInMemory() throws {
        for seed in UInt64(1)...15 {
            let events = SimulatedEvent.list(seed: seed, count: 60, devices: 3)
            let twin = try FileTwin(in: folder.url.appending(path: "\(seed)"))
            let outcome = try Simulation.run(seed: seed, events, twin: twin)
            #expect(outcome.failure == nil, "seed \(seed)")
        }
    }

    @Test func snapshotsOfFilesGoOnAfterLargeRows() throws {
        let twin = try FileTwin(in: folder.url.appending(path: "large"))
        let keys = (1...4).map { RowKey("note", Identifier(high: 0, low: $0)) }
        let large = SyncValue.text(String(repeating: "x", count: 1_200_000))
        let stamp = Stamp(number: 0, time: .zero, operation: keys[0].id, device: keys[0].id)
        try twin.transaction { tables in
            var changes = SpaceContent()
            for key in keys { changes.rows[key] = Row(life: 1, number: 0, columns: ["a": Cell(large, stamp)]) }
            try tables.save(changes)
        }
        var (found, isLast) = ([RowKey](), false)
        while !isLast, found.count < 10 {
            let request = SnapshotRequest(device: keys[0].id, start: nil, after: found.last, pending: [])
            let response = try twin.transaction { tables in
                try SpaceServer(ConflictPolicies()).handle(.snapshot(request), at: 1, over: &tables).response
            }
            guard case .snapshot(let page) = response else { break }
            found += page.rows.map(\.key)
            isLast = page.isLast
        }
        #expect(found == keys)
    }
}
