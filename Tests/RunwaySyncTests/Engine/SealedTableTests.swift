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

/// A diary whose conflicts the app asks about.
private enum AskedDiary: SyncedTable {
    static let name = "diary"
    static let id = Column<UUID>("id"), list = Column<UUID>("listId")
    static let text = Column<Secret<String>?>("text"), mood = Column<Int>("mood", default: 0)
    static let columns = TableColumns<Self>(id, list, text, mood)
    static let sync = Synced(space: list, conflicts: .ask, devicesShareKeys: true)
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

    private func open(
        _ server: SyncServer, _ table: any TableDefinition.Type = Diary.self, in folder: TemporaryFolder
    ) async throws -> (RecordStore, SyncEngine) {
        var options = RecordStore.Options()
        options.sealing = PlacedSealing()
        let store = try await RecordStore.open(at: folder.file, tables: [table], options: options)
        let engine = try await SyncEngine(store, over: server.makeNetwork(), service: Backend.self)
        try await engine.join(list)
        return (store, engine)
    }

    @Test func discardedSecretsAreOpenedForTheQuestion() async throws {
        try await SyncServer.run(conflicts: ["diary": .ask]) { server in
            let folders = [try TemporaryFolder(), try TemporaryFolder()]
            let devices = try await folders.asyncMap { try await open(server, AskedDiary.self, in: $0) }
            func write(_ text: String, to store: RecordStore) async throws {
                var page = Values<AskedDiary>()
                (page[AskedDiary.id], page[AskedDiary.list], page[AskedDiary.text]) = (row, list, Secret(text))
                let saved = page
                try await store.write { try $0.save(saved) }
            }
            try await write("tea", to: devices[0].0)
            for device in devices { #expect(await device.1.syncInTime() == nil) }
            for (device, text) in zip(devices, ["rice", "milk"]) {
                server.faults.add(.refuses(500), to: "pull", count: 1)
                try await write(text, to: device.0)
            }
            for index in [0, 1, 1, 0, 1] { _ = await devices[index].1.syncInTime() }
            let found = try await devices.asyncMap { device in
                try await device.0.read { file in
                    let conflicts = try file.syncConflicts(of: AskedDiary.self)
                    let (first, rest) = (conflicts.first, conflicts.dropFirst())
                    #expect(rest.isEmpty && first?[AskedDiary.mood] == nil && first?[AskedDiary.id] == nil)
                    if let first { #expect(!"\(first)".contains("rice") && !"\(first)".contains("milk")) }
                    return (
                        try file.fetchFirst(AskedDiary.self)?[AskedDiary.text]?.value,
                        (first?[AskedDiary.text] ?? nil)?.value
                    )
                }
            }
            #expect(found[0].0 == found[1].0)
            let texts = found.compactMap(\.1) + [found[0].0 ?? ""]
            #expect(texts.sorted() == ["milk", "rice"])
            for device in devices {
                await device.1.close()
                try await device.0.close()
            }
        }
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
