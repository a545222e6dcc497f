import Foundation
import GRDB
import RunwayServer
import RunwaySyncCore
import Testing

@testable import RunwayServerStorage

/// A file has to respond as the store in memory does. Runs with all faults are among the tests of `RunwaySync`.
struct StoreAgreementTests {
    private let folder = ScratchFolder()

    @Test func snapshotsOfFilesGoOnAfterLargeRows() throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let queue = try DatabaseQueue(path: folder.file.path)
        try queue.write { try SyncTableDefinitions.create(in: $0) }
        func transaction<Value>(_ body: (inout SQLiteSyncTables) throws -> Value) throws -> Value {
            try queue.write { database in
                var tables = try SQLiteSyncTables(creatingIn: database, Identifier(high: 7, low: 7), hook: nil)
                return try body(&tables)
            }
        }
        let keys = (1...4).map { RowKey("note", Identifier(high: 0, low: $0)) }
        let large = SyncValue.text(String(repeating: "x", count: 1_200_000))
        let stamp = Stamp(number: 0, time: .zero, operation: keys[0].id, device: keys[0].id)
        try transaction { tables in
            var changes = SpaceContent()
            for key in keys { changes.rows[key] = Row(life: 1, number: 0, columns: ["a": Cell(large, stamp)]) }
            try tables.save(changes)
        }
        var (found, isLast) = ([RowKey](), false)
        while !isLast, found.count < 10 {
            let request = SnapshotRequest(device: keys[0].id, start: nil, after: found.last, pending: [])
            let response = try transaction { tables in
                try SpaceServer(ConflictPolicies()).handle(.snapshot(request), at: 1, over: &tables).response
            }
            guard case .snapshot(let page) = response else { break }
            found += page.rows.map(\.key)
            isLast = page.isLast
        }
        #expect(found == keys)
    }
}
