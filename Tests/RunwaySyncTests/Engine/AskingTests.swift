import Foundation
import RunwaySync
import RunwayTables
import Testing

/// Notes whose conflicts the app asks about.
private enum Questions: SyncedTable {
    static let name = "question"
    static let id = Column<UUID>("id"), list = Column<UUID>("listId")
    static let title = Column<String>("title", default: ""), text = Column<String?>("text")
    static let columns = TableColumns<Self>(id, list, title, text)
    static let sync = Synced(space: list, conflicts: .ask)
}

/// Messages, which are only sent.
private enum Messages: SentTable {
    static let name = "message"
    static let id = Column<UUID>("id"), room = Column<UUID>("roomId"), text = Column<String>("text", default: "")
    static let columns = TableColumns<Self>(id, room, text)
    static let sync = SentOneWay(space: room, deadline: .seconds(3600))
}

@Suite(.timeLimit(.minutes(5)))
struct AskingTests {
    private let list = UUID(number: 1), row = UUID(number: 2)

    private func open(
        _ server: SyncServer, _ table: any TableDefinition.Type, in folder: TemporaryFolder
    ) async throws -> (store: RecordStore, engine: SyncEngine) {
        let store = try await RecordStore.open(at: folder.file, tables: [table])
        let engine = try await SyncEngine(store, over: server.makeNetwork(), service: Backend.self)
        try await engine.join(list)
        return (store, engine)
    }

    private func write(_ title: String, to store: RecordStore) async throws {
        var values = Values<Questions>()
        (values[Questions.id], values[Questions.list], values[Questions.title]) = (row, list, title)
        let saved = values
        try await store.write { try $0.save(saved) }
    }

    @Test func theSecondDeviceAsksAboutTheConflict() async throws {
        try await SyncServer.run(conflicts: ["question": .ask]) { server in
            let folders = (try TemporaryFolder(), try TemporaryFolder())
            let (first, second) = (
                try await open(server, Questions.self, in: folders.0),
                try await open(server, Questions.self, in: folders.1)
            )
            try await write("tea", to: first.store)
            for engine in [first.engine, second.engine] { #expect(await engine.syncInTime() == nil) }
            server.faults.add(.refuses(500), to: "pull", count: 1)
            try await write("rice", to: second.store)
            try await write("milk", to: first.store)
            for engine in [first.engine, second.engine, second.engine, first.engine, second.engine] {
                _ = await engine.syncInTime()
            }
            let found = try await [first.store, second.store].asyncMap { store in
                try await store.read { file in
                    (
                        try file.fetchFirst(Questions.self)?[Questions.title],
                        try file.syncConflicts(of: Questions.self).map { $0[Questions.title] ?? "" }
                    )
                }
            }
            #expect(found[0].0 == found[1].0)
            #expect((found[0].1 + found[1].1).count == 1)
            #expect(Set([found[0].0 ?? ""] + found[0].1 + found[1].1) == ["milk", "rice"])
            for device in [first, second] {
                let row = row
                try await device.store.write { try $0.resolveConflict(of: Questions.self, row) }
                #expect(try await device.store.read { try $0.syncConflicts(of: Questions.self).count } == 0)
                await device.engine.close()
                try await device.store.close()
            }
        }
    }

    @Test func lateMessagesAreSentAgain() async throws {
        try await SyncServer.run { server in
            let folder = try TemporaryFolder()
            let (store, engine) = try await open(server, Messages.self, in: folder)
            // The write is two hours old when it is sent.
            engine.setClockOffset(seconds: -7200)
            var values = Values<Messages>()
            (values[Messages.id], values[Messages.room], values[Messages.text]) = (row, list, "hello")
            let (message, row, list) = (values, row, list)
            server.faults.add(.refuses(500), to: "push", count: 1_000)
            try await store.write { try $0.save(message) }
            _ = await engine.syncInTime()
            engine.setClockOffset(seconds: 0)
            _ = await engine.syncInTime()
            #expect(try await store.read { try $0.syncStatus(of: Messages.self, row) } == .failed)
            server.faults.end()
            let failed = try #require(try await store.read { try $0.syncStatus(of: list).refusedChanges.first })
            engine.sendAgain(failed.id, in: list)
            while try await store.read({ try $0.syncStatus(of: Messages.self, row) }) != .synced {
                _ = await engine.syncNow()
            }
            // After a timeout, a pull without parameters looks for the server.
            #expect(server.faults.requests.allSatisfy { !$0.contains("pull?") })
            #expect(try await store.read { try $0.count(Messages.self) } == 1)
            await engine.close()
            try await store.close()
        }
    }
}
