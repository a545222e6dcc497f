import Foundation
import Runway
import RunwayServer
import RunwayServerStorage
import RunwayStorage
import RunwaySync
import RunwayTables
import Testing

/// A diary, which only the devices of its author can read.
private enum Diary: SyncedTable {
    static let name = "diary"
    static let id = Column<UUID>("id"), list = Column<UUID>("listId")
    static let text = Column<Secret<String>?>("text"), mood = Column<Int>("mood", default: 0)
    static let columns = TableColumns<Self>(id, list, text, mood)
    static let sync = Synced(space: list, devicesShareKeys: true)
}

/// Reverses bytes, with the context before them: a value opens only in its place.
private struct PlacedSealing: PayloadSealing {
    struct WrongPlace: Error {}

    func seal(_ bytes: [UInt8], for context: [UInt8]) -> [UInt8] { context + bytes.map { ~$0 } }

    func open(_ sealed: [UInt8], for context: [UInt8]) throws -> [UInt8] {
        guard sealed.starts(with: context) else { throw WrongPlace() }
        return sealed.dropFirst(context.count).map { ~$0 }
    }
}

/// Rule 18.
@Suite(.timeLimit(.minutes(5)))
struct SealedTableTests {
    private let list = UUID(number: 1), row = UUID(number: 2)

    private func open(_ server: SyncServer, in folder: TemporaryFolder) async throws -> (RecordStore, SyncEngine) {
        var options = RecordStore.Options()
        options.sealing = PlacedSealing()
        let store = try await RecordStore.open(at: folder.file, tables: [Diary.self], options: options)
        let engine = try await SyncEngine(store, over: server.makeNetwork(), service: Backend.self)
        try await engine.join(list)
        return (store, engine)
    }

    @Test func secretsMergeWithoutTheServerReadingThem() async throws {
        let folders = (try TemporaryFolder(), try TemporaryFolder(), try TemporaryFolder())
        let spaces = try SyncStore.sqlite(at: folders.2.file)
        try await SyncServer.run(store: spaces) { server in
            let (first, second) = (try await open(server, in: folders.0), try await open(server, in: folders.1))
            var (page, text, mood) = (Values<Diary>(), Values<Diary>(), Values<Diary>())
            (page[Diary.id], text[Diary.id], mood[Diary.id]) = (row, row, row)
            (page[Diary.list], page[Diary.text]) = (list, Secret("the treasure"))
            text[Diary.text] = Secret("the treasure is ours")
            mood[Diary.mood] = 9
            let (written, changes) = (page, (text, mood))
            try await first.0.write { try $0.insert(written) }
            for device in [first, second] { #expect(await device.1.syncInTime() == nil) }
            try await first.0.write { _ = try $0.update(changes.0) }
            try await second.0.write { _ = try $0.update(changes.1) }
            for device in [first, second, first] { #expect(await device.1.syncInTime() == nil) }
            for device in [first, second] {
                let row = try await device.0.read { try $0.fetchFirst(Diary.self) }
                #expect(row?[Diary.text]?.value == "the treasure is ours" && row?[Diary.mood] == 9)
            }
            // A copy has another key, for which its secrets are sealed anew.
            let (id, other) = (row, UUID(number: 7))
            try await first.0.write { _ = try $0.move(Diary.self, id, to: other) }
            let copy = try await first.0.read { try $0.fetchFirst(Diary.self) }
            #expect(copy?[Diary.list] == other && copy?[Diary.text]?.value == "the treasure is ours")
            for device in [first, second] {
                await device.1.close()
                try await device.0.close()
            }
        }
        try await spaces.close()
        for name in try FileManager.default.contentsOfDirectory(atPath: folders.2.url.path) {
            #expect(try Data(contentsOf: folders.2.url.appending(path: name)).range(of: Data("treasure".utf8)) == nil)
        }
    }
}
