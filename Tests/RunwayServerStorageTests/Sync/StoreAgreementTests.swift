import Foundation
import GRDB
import RunwayServer
import RunwaySyncCore
import Testing

@testable import RunwayServerStorage

/// A file has to respond as the store in memory does. Runs with all faults are among the tests of `RunwaySync`.
struct StoreAgreementTests {
    private let folder = ScratchFolder()

    @Test func rowsWithWaitingUpdatesAreCountedBySubject() async throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let store = try SyncStore.sqlite(at: folder.file)
        let keys = (1...3).map { RowKey("note", Identifier(high: 0, low: $0)) }
        let waiting = keys.map { key in
            WaitingOperation(
                operation: RunwaySyncCore.Operation(id: key.id, action: .update(key, life: 1, ["a": .null])),
                sender: Sender(device: key.id, subject: key == keys[2] ? "bob" : "ada"), time: .zero,
                basis: Basis(epoch: Identifier(high: 0, low: 0), number: 0))
        }
        func counts(after waiting: [RowKey: [WaitingOperation]]) async throws -> [Int]? {
            try await store.database.transaction(.writing, in: Identifier(high: 7, low: 7), byteCount: 0) { tables in
                var changes = SpaceContent()
                changes.waiting = waiting
                try tables.save(changes)
                return try [("ada", 1), ("ada", 10), ("bob", 10)].map {
                    try tables.waitingRowCount(of: $0, upTo: $1)
                }
            }
        }
        let all = Dictionary(uniqueKeysWithValues: zip(keys, waiting.map { [$0] }))
        #expect(try await counts(after: all) == [1, 2, 1])
        #expect(try await counts(after: [keys[0]: [], keys[2]: []]) == [1, 1, 0])
        try await store.close()
    }

    @Test func tablesAreSeparateInBothFormsOfAccents() async throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let store = try SyncStore.sqlite(at: folder.file)
        let space = Identifier(high: 7, low: 7)
        let keys = ["Eintr\u{e4}ge", "Eintra\u{308}ge"].map { RowKey($0, Identifier(high: 0, low: 1)) }
        try await store.database.transaction(.writing, in: space, byteCount: 0) { tables in
            var changes = SpaceContent()
            for (index, key) in keys.enumerated() {
                changes.rows[key] = Row(life: 1, number: Int64(index), columns: [:])
            }
            try tables.save(changes)
        }
        let found = try await store.database.transaction(.writing, in: space, byteCount: 0) { tables in
            var needs = SpaceNeeds()
            needs.rows = Set(keys)
            return try tables.content(for: needs).rows
        }
        #expect(keys.map { found?[$0]?.number } == [0, 1])
        try await store.close()
    }

    @Test func batchesChangeOneFormOfAnAccent() async throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        for store in [SyncStore.memory(), try SyncStore.sqlite(at: folder.file)] {
            let names = ["Eintr\u{e4}ge", "Eintra\u{308}ge"]
            let id = { (number: UInt64) in Identifier(high: 7, low: number) }
            let keys = names.map { RowKey($0, id(1)) }
            let inserts = keys.map { RunwaySyncCore.Operation.Action.insert($0, life: 1, ["a": .null]) }
            let batches = names.enumerated().map { place, name in
                RunwaySyncCore.Operation.Action.batch(
                    BatchUpdate(
                        table: name, where: [.init("a", .notEqual, .integer(9))], set: ["a": .integer(Int64(place))]))
            }
            var number: UInt64 = 0
            for actions in [inserts, batches] {
                let transactions = actions.map { action in
                    number += 1
                    return Transaction(
                        number: Int64(number), previous: number > 1 ? id(number - 1) : nil, time: .zero,
                        basis: Basis(epoch: id(0), number: 0),
                        operations: [RunwaySyncCore.Operation(id: id(number), action: action)])
                }
                let packet = Packet(device: id(0), transactions: transactions)
                try await store.database.transaction(.writing, in: id(7), byteCount: 0) { tables in
                    _ = try SpaceServer(ConflictPolicies()).handle(.push(packet), at: 1, over: &tables)
                }
            }
            let found = try await store.database.transaction(.reading, in: id(7), byteCount: 0) { tables in
                var needs = SpaceNeeds()
                needs.rows = Set(keys)
                return try tables.content(for: needs).rows
            }
            #expect(keys.map { found?[$0]?.values } == [["a": .integer(0)], ["a": .integer(1)]])
            try await store.close()
        }
    }

    @Test func snapshotsOfFilesGoOnAfterLargeRows() throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let queue = try DatabaseQueue(path: folder.file.path)
        try queue.write { try SyncTableDefinitions.create(in: $0) }
        func transaction<Value>(_ body: (inout any SyncTables) throws -> Value) throws -> Value {
            try queue.write { database in
                let transaction = SQLiteSyncTransaction(database, nil)
                let value = try transaction.run(.writing, in: Identifier(high: 7, low: 7), body)
                try transaction.finish()
                return try #require(value)
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
