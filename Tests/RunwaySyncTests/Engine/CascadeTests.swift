import Foundation
import GRDB
import RunwayTables
import RunwayTesting
import Testing

@testable import RunwaySync

/// Marks of notes. In the files of some devices they have a foreign key.
private enum Marks: SyncedTable {
    static let name = "mark"
    static let id = Column<UUID>("id"), list = Column<UUID>("listId"), note = Column<UUID?>("noteId")
    static let columns = TableColumns<Self>(id, list, note)
    static let sync = Synced(space: list)
}

/// Devices whose foreign keys the server and the other devices do not know.
@Suite(.timeLimit(.minutes(5)))
struct CascadeTests {
    private let list = UUID(number: 1), note = UUID(number: 2), mark = UUID(number: 3)

    private struct Device {
        let folder: TemporaryFolder
        let store: RecordStore
        let engine: SyncEngine

        /// - Parameter cascades: Whether the marks of a note are deleted with it.
        init(_ server: SyncServer, joining list: UUID, cascades: Bool) async throws {
            folder = try TemporaryFolder()
            var store = try await RecordStore.open(at: folder.file, tables: [Notes.self, Marks.self])
            if cascades {
                try await store.write { file in
                    try file.connection.execute(
                        sql: """
                            DROP TABLE mark;
                            CREATE TABLE mark (id BLOB NOT NULL PRIMARY KEY, listId BLOB NOT NULL,
                                noteId BLOB REFERENCES note (id) ON DELETE CASCADE) STRICT
                            """)
                }
                try await store.close()
                store = try await RecordStore.open(at: folder.file, tables: [Notes.self, Marks.self])
            }
            self.store = store
            engine = try await SyncEngine(store, over: server.makeNetwork(), service: Backend.self)
            try await engine.join(list)
        }

        func insert(note: UUID, in list: UUID) async throws {
            let values = Values(note, in: list, title: "tea")
            try await store.write { try $0.insert(values) }
        }

        func insert(mark: UUID, of note: UUID, in list: UUID) async throws {
            var values = Values<Marks>()
            (values[Marks.id], values[Marks.list], values[Marks.note]) = (mark, list, note)
            try await store.write { [values] in try $0.insert(values) }
        }

        func counts() async throws -> [Int] {
            try await store.read { [try $0.count(Notes.self), try $0.count(Marks.self)] }
        }

        func close() async throws {
            await engine.close()
            try await store.close()
        }
    }

    /// Runs two devices, of which the second one deletes marks with their notes. Both begin with a note and its mark.
    private func run(_ body: (_ plain: Device, _ cascading: Device, _ sync: () async -> Void) async throws -> Void)
        async throws
    {
        try await SyncServer.run { server in
            let plain = try await Device(server, joining: list, cascades: false)
            let cascading = try await Device(server, joining: list, cascades: true)
            func sync() async {
                for device in [plain, cascading, plain] { #expect(await device.engine.syncInTime() == nil) }
            }
            try await plain.insert(note: note, in: list)
            try await plain.insert(mark: mark, of: note, in: list)
            await sync()
            #expect(try await cascading.counts() == [1, 1])
            try await body(plain, cascading, sync)
            for device in [plain, cascading] {
                let status = try await device.store.read { [list] in try $0.syncStatus(of: list) }
                #expect(status.waitingCount == 0 && status.mismatchCount == 0 && status.parkedRowCount == 0)
                try await device.close()
            }
        }
    }

    @Test func cascadesOfOneDeviceArriveAtAll() async throws {
        try await run { plain, cascading, sync in
            try await cascading.store.write { try $0.delete(Notes.self, where: nil) }
            await sync()
            #expect(try await plain.counts() == [0, 0])
        }
    }

    @Test func receivedDeletionsDoNotCascade() async throws {
        try await run { plain, cascading, sync in
            try await plain.store.write { try $0.delete(Notes.self, where: nil) }
            await sync()
            #expect(try await plain.counts() == [0, 1])
            #expect(try await cascading.counts() == [0, 1])
        }
    }

    @Test func anOrphanHoldsNothingUp() async throws {
        try await run { plain, cascading, sync in
            // Its note is on no device.
            try await plain.insert(mark: UUID(number: 4), of: UUID(number: 5), in: list)
            await sync()
            #expect(try await cascading.counts() == [1, 2])
            try await plain.insert(note: UUID(number: 6), in: list)
            try await cascading.insert(note: UUID(number: 7), in: list)
            await sync()
            #expect(try await plain.counts() == [3, 2])
            #expect(try await cascading.counts() == [3, 2])
        }
    }
}
