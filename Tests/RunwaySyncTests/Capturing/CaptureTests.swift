import Foundation
import GRDB
import RunwaySyncCore
import RunwayTables
import Testing

@testable import RunwaySync

struct CaptureTests {
    private let folder: TemporaryFolder
    private let list = UUID(number: 1), note = UUID(number: 2)

    init() throws { folder = try TemporaryFolder() }

    private func open() async throws -> RecordStore {
        try await RecordStore.open(at: folder.file, tables: [Notes.self])
    }

    /// The sealed transactions of the list.
    private func sealed(_ store: RecordStore) async throws -> [Outgoing] {
        let space = try #require(Identifier(list.databaseValue))
        return try await store.writeAsFollower { database in
            let capture = try #require(store.follower as? ChangeCapture)
            try capture.sealAll(in: database)
            return try capture.store(of: space, in: database).outgoing()
        }
    }

    private func actions(_ store: RecordStore) async throws -> [[RunwaySyncCore.Operation.Action]] {
        try await sealed(store).map { $0.transaction.operations.map(\.action) }
    }

    private var key: RowKey { RowKey("note", Identifier(note.databaseValue) ?? Identifier(high: 0, low: 0)) }

    @Test func eachWriteIsOneTransactionOfItsChanges() async throws {
        let store = try await open()
        let values = Values(note, in: list, title: "a")
        try await store.write { try $0.insert(values) }
        try await store.write { file in
            var change = Values<Notes>()
            change[Notes.id] = values[Notes.id]
            change[Notes.title] = "b"
            try file.update(change)
            change[Notes.title] = "c"
            try file.update(change)
        }
        try await store.write { try $0.delete(Notes.self, where: Notes.title == "c") }
        let all: Columns<SyncValue> = ["title": .text("a"), "text": .null, "rating": .integer(0)]
        #expect(
            try await actions(store) == [
                [.insert(key, life: 1, all)], [.update(key, life: 1, ["title": .text("c")])], [.delete(key, life: 2)],
            ])
    }

    @Test func deleteThenInsertIsAnUpdate() async throws {
        let store = try await open()
        let (first, second) = (Values(note, in: list, title: "a"), Values(note, in: list, title: "b"))
        try await store.write { try $0.insert(first) }
        try await store.write { file in
            try file.delete(Notes.self, where: nil)
            try file.insert(second)
        }
        #expect(try await actions(store).last == [.update(key, life: 1, ["title": .text("b")])])
    }

    @Test func replaceAndCascadesAreCaptured() throws {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA recursive_triggers = ON") }
        let queue = try DatabaseQueue(configuration: configuration)
        let capture = ChangeCapture(
            ["note", "mark"].map {
                CapturedTable(name: $0, synced: Synced(column: "s", conflicts: .newestPerColumn))
            })
        let mark = UUID(number: 9)
        let operations = try queue.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE note (id BLOB NOT NULL PRIMARY KEY, s BLOB NOT NULL, title TEXT) STRICT;
                    CREATE TABLE mark (id BLOB NOT NULL PRIMARY KEY, s BLOB NOT NULL,
                        note BLOB REFERENCES note (id) ON DELETE CASCADE) STRICT
                    """)
            try capture.prepare(database)
            try database.execute(sql: "INSERT INTO note VALUES (?, ?, 'a')", arguments: [note, list])
            try database.execute(sql: "INSERT INTO mark VALUES (?, ?, ?)", arguments: [mark, list, note])
            try capture.didWrite(database)
            try database.execute(sql: "INSERT OR REPLACE INTO note VALUES (?, ?, 'b')", arguments: [note, list])
            try capture.didWrite(database)
            try capture.sealAll(in: database)
            let space = try #require(Identifier(list.databaseValue))
            return try capture.store(of: space, in: database).outgoing().map { $0.transaction.operations }
        }
        let markKey = RowKey("mark", try #require(Identifier(mark.databaseValue)))
        let last = try #require(operations.last)
        #expect(operations.count == 2)
        #expect(Set(last.map(\.action)) == [.update(key, life: 1, ["title": .text("b")]), .delete(markKey, life: 2)])
    }

    @Test(arguments: [.integer(7), .real(0.5), .text("tea"), .bytes([0, 255]), .bytes([]), .null] as [SyncValue])
    func valuesOfAllTypesAreShown(_ value: SyncValue) throws {
        let queue = try DatabaseQueue()
        let capture = ChangeCapture([
            CapturedTable(name: "note", synced: Synced(column: "s", conflicts: .newestPerColumn))
        ])
        let (shown, space) = (["a": value] as Columns<SyncValue>, Identifier(list))
        try queue.write { database in
            try database.execute(sql: "CREATE TABLE note (id BLOB NOT NULL PRIMARY KEY, s BLOB NOT NULL, a ANY) STRICT")
            try capture.prepare(database)
            let file = try capture.store(of: space, in: database)
            try file.applying { try file.show(key, shown) }
            #expect(try file.shown(key) == shown)
        }
    }

    @Test func rowThatAnExpressionRefusesIsParked() async throws {
        let (store, list, key) = (try await open(), list, key)
        let capture = try #require(store.follower as? ChangeCapture)
        try await store.writeAsFollower { database in
            try database.execute(sql: "CREATE INDEX title_parts ON note (json_extract(title, '$.a'))")
            let file = try capture.store(of: Identifier(list), in: database)
            try file.applying { try file.show(key, ["title": .text("{")]) }
            #expect(try file.shown(key) == nil)
            #expect(try file.keys(in: "runway_sync_parked") == [key])
        }
    }

    @Test func changedIDOrSpaceIsRefused() async throws {
        let store = try await open()
        let values = Values(note, in: list, title: "a")
        try await store.write { try $0.insert(values) }
        for column in ["id", "listId"] {
            await #expect(throws: TableError.self) {
                try await store.write { file in
                    try file.connection.execute(sql: "UPDATE note SET \(column) = ?", arguments: [UUID(number: 77)])
                }
            }
        }
        #expect(try await sealed(store).count == 1)
    }

    @Test(arguments: [(5_001, 1), (3, 2 << 20)])
    func transactionsThatAreTooLargeAreRefused(_ count: Int, _ byteCount: Int) async throws {
        let (store, list) = (try await open(), list)
        await #expect(throws: TableError.self) {
            try await store.write { file in
                for _ in 0..<count {
                    try file.insert(Values(UUID(), in: list, title: String(repeating: "x", count: byteCount)))
                }
            }
        }
        #expect(try await store.read { try $0.count(Notes.self) } == 0)
        #expect(try await sealed(store) == [])
    }

    @Test func writesBeforeAnUpdateOfAllAreBounded() async throws {
        let (store, list) = (try await open(), list)
        await #expect(throws: TableError.self) {
            try await store.write { file in
                for _ in 0..<3 {
                    try file.insert(Values(UUID(), in: list, title: String(repeating: "x", count: 2 << 20)))
                }
                var change = Values<Notes>()
                change[Notes.title] = "low"
                return try file.updateAll(change, where: Notes.list == list && Notes.rating < 2)
            }
        }
        #expect(try await sealed(store) == [])
    }

    @Test func changesOfAnotherProgramAreDivided() async throws {
        let (store, list) = (try await open(), list)
        let other = try DatabaseQueue(path: folder.file.path)
        try await other.write { database in
            try database.execute(
                sql: """
                    WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 5001)
                    INSERT INTO note (id, listId, title) SELECT randomblob(16), ?, 'a' FROM r
                    """, arguments: [list])
        }
        try await store.write { try $0.insert(Values(UUID(), in: list, title: "b")) }
        let counts = try await sealed(store).map(\.transaction.operations.count)
        #expect(counts == Array(repeating: 500, count: 10) + [1, 1])
    }

    @Test func twoHundredWritesAreSealedByTheNext() async throws {
        let (store, list) = (try await open(), list)
        for _ in 0..<201 { try await store.write { try $0.insert(Values(UUID(), in: list, title: "a")) } }
        let counts = try await store.read { file in
            try ["runway_sync_outgoing", "runway_sync_write"].map {
                try Int.fetchOne(file.connection, sql: "SELECT COUNT(*) FROM \($0)")
            }
        }
        #expect(counts == [200, 1])
    }

    @Test func updateOfAllRowsIsOneOperation() async throws {
        let (store, list) = (try await open(), list)
        try await store.write { file in
            for rating in 0..<4 { try file.insert(Values(UUID(), in: list, title: "a", rating: rating)) }
        }
        let count = try await store.write { file in
            var change = Values<Notes>()
            change[Notes.title] = "low"
            return try file.updateAll(change, where: Notes.list == list && Notes.rating < 2)
        }
        #expect(count == 2)
        #expect(try await store.read { try $0.count(Notes.self, where: Notes.title == "low") } == 2)
        let batch = BatchUpdate(
            table: "note", where: [.init("rating", .less, .integer(2))], set: ["title": .text("low")])
        #expect(try await actions(store).last == [.batch(batch)])
        #expect(try await sealed(store).count == 2)
    }

    @Test func rowsFromBeforeAreCapturedAsInserts() async throws {
        let plain = try await RecordStore.open(at: folder.file, tables: [PlainNotes.self])
        let list = list
        try await plain.write { file in
            for _ in 0..<1_200 {
                try file.connection.execute(
                    sql: "INSERT INTO note (id, listId, title) VALUES (?, ?, 'a')", arguments: [UUID(), list])
            }
        }
        try await plain.close()
        let counts = try await sealed(try await open()).map(\.transaction.operations.count)
        #expect(counts == [500, 500, 200])
    }

    @Test func largeRowsFromBeforeAreDivided() async throws {
        let plain = try await RecordStore.open(at: folder.file, tables: [PlainNotes.self])
        let list = list
        try await plain.write { file in
            for _ in 0..<7 {
                try file.connection.execute(
                    sql: "INSERT INTO note (id, listId, title) VALUES (?, ?, ?)",
                    arguments: [UUID(), list, String(repeating: "x", count: 300_000)])
            }
        }
        try await plain.close()
        let counts = try await sealed(try await open()).map(\.transaction.operations.count)
        #expect(counts == [3, 3, 1])
    }

    @Test func sealingLeavesTransactionsOfOtherSpacesApart() async throws {
        let (store, list, other) = (try await open(), list, UUID(number: 7))
        let capture = try #require(store.follower as? ChangeCapture)
        try await store.write { file in
            try file.insert(Values(UUID(), in: list, title: "a"))
            try file.insert(Values(UUID(), in: other, title: "a"))
        }
        try await store.writeAsFollower { database in
            var file = try capture.store(of: Identifier(other), in: database)
            var random = SystemRandomNumberGenerator()
            try capture.device(of: file).seal(at: capture.now, in: &file, using: &random)
            try file.finish()
        }
        try await store.write { try $0.insert(Values(UUID(), in: list, title: "b")) }
        #expect(try await sealed(store).map(\.transaction.operations.count) == [1, 1])
    }

    @Test func captureIsDurableWithItsWrite() async throws {
        let store = try await open()
        let values = Values(note, in: list, title: "a")
        try await store.write { try $0.insert(values) }
        try await store.close()
        #expect(try await sealed(try await open()).count == 1)
    }
}
