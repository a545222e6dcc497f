import Foundation
import Runway
import RunwaySync
import RunwayTables

// The examples of the documentation, which only have to compile.

enum Tasks: SyncedTable {
    static let name = "task"
    static let id = Column<UUID>("id"), list = Column<UUID>("listId")
    static let title = Column<String>("title", default: ""), due = Column<Date?>("due")
    static let columns = TableColumns<Self>(id, list, title, due)
    static let sync = Synced(space: list)
}

private enum AskedTasks: SyncedTable {
    static let name = "asked"
    static let id = Column<UUID>("id"), list = Column<UUID>("listId")
    static let columns = TableColumns<Self>(id, list)
    static let sync = Synced(space: list, conflicts: .ask)
}

private enum SealedTasks: SyncedTable {
    static let name = "sealed"
    static let id = Column<UUID>("id"), list = Column<UUID>("listId"), text = Column<Secret<String>?>("text")
    static let columns = TableColumns<Self>(id, list, text)
    static let sync = Synced(space: list, devicesShareKeys: true)
}

private enum Letters: SentTable {
    static let name = "letter"
    static let conversation = Column<UUID>("conversationId")
    static let columns = TableColumns<Self>(Column<UUID>("id"), conversation)
    static let sync = SentOneWay(space: conversation, deadline: .seconds(3600))
}

private struct SyncExamples {
    let file: URL, network: NetworkLayer, list: UUID, id: UUID, october: Date
    let ask: @Sendable (Int) async -> Bool

    func join() async throws {
        let store = try await RecordStore.open(at: file, tables: [Tasks.self])
        let sync = try await SyncEngine(store, over: network, service: Backend.self)
        try await sync.join(list)
    }

    func joinWithEvents() async throws {
        let store = try await RecordStore.open(at: file, tables: [Tasks.self])
        let sync = try await SyncEngine(store, over: network, service: Backend.self, eventsPath: "events")
        try await sync.join(list)
        let isSignedOut = try await sync.signOut { count in await ask(count) ? .send : .keep }
        _ = isSignedOut
    }

    @MainActor func observe(_ store: RecordStore) async throws {
        let list = list, id = id
        let status = store.observe { try $0.syncStatus(of: list) }
        let isPending = try await store.read { try $0.syncStatus(of: Tasks.self, id) == .pending }
        _ = (status, isPending)
    }

    func save(_ photo: Data, in store: RecordStore) async throws {
        let id = id, list = list
        try await store.withFile(photo) { file in
            var picture = Values<Pictures>()
            (picture[Pictures.id], picture[Pictures.list], picture[Pictures.file]) = (id, list, file)
            let saved = picture
            try await store.write { try $0.save(saved) }
        }
    }

    @MainActor func observe(_ photo: StoredFile, in store: RecordStore) {
        let list = list
        let status = store.observe { try $0.syncStatus(of: photo, in: list) }
        _ = status
    }

    func update(_ store: RecordStore) async throws {
        let list = list, october = october
        try await store.write { file in
            var change = Values<Tasks>()
            change[Tasks.title] = "done"
            try file.updateAll(change, where: Tasks.list == list && Tasks.due < october)
        }
    }

    func move(_ store: RecordStore, _ task: UUID, _ otherList: UUID) async throws {
        try await store.write { try $0.move(Tasks.self, task, to: otherList) }
    }

    func ask(_ file: TableReader, _ ask: (UUID, String) -> Void) throws {
        for conflict in try file.syncConflicts(of: Tasks.self) {
            if let title = conflict[Tasks.title] { ask(conflict.id, title) }
        }
    }

    func resolve(_ store: RecordStore, _ prefers: (String) async -> Bool) async throws {
        let conflicts = try await store.read { try $0.syncConflicts(of: Tasks.self) }
        if let conflict = conflicts.first, let title = conflict[Tasks.title], await prefers(title) {
            try await store.write { file in
                var change = Values<Tasks>()
                (change[Tasks.id], change[Tasks.title]) = (conflict.id, title)
                try file.update(change)
                try file.resolveConflict(of: Tasks.self, conflict.id)
            }
        }
    }
}
