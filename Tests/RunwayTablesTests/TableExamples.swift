import Foundation
import RunwayTables
import RunwayTesting
import Testing

enum Priority: Int, ColumnValue { case low, high }
struct Address: Codable, ColumnValue { var street: String, city: String }

/// The examples of the documentation.
private enum Examples {
    enum Tasks: TableDefinition {
        static let name = "task"
        static let id = Column<UUID>("id"), list = Column<UUID>("listId"), title = Column<String>("title")
        static let done = Column<Bool>("done", default: false), due = Column<Date?>("due")
        static let columns = TableColumns<Self>(id, list, title, done, due)
        static let indexes = [Index("taskByList", on: list, due)]
    }

    enum Columns: TableDefinition {
        static let name = "columns"
        static let title = Column<String>("title") { !$0.isEmpty }
        static let done = Column<Bool>("done", default: false)
        static let due = Column<Date?>("due")
        static let note = Column<Secret<String>>("note")
        static let columns = TableColumns<Self>(title, done, due, note)
    }
}

@MainActor private final class Label { var text: String? }

@MainActor private final class TaskCell {
    let id = UUID()
    let titleLabel = Label()
}

extension TaskCell: @MainActor VirtualRecord {
    func write(to draft: inout Draft) { draft[Tasks.title] = titleLabel.text }
    func read(from draft: Draft) { titleLabel.text = draft[Tasks.title] }
}

@MainActor private final class Screen: ObservedDelegate {
    let showings = AwaitedValue(0)
    var shown: [String] = []

    func show(_ rows: [Values<Tasks>]) {
        shown = rows.compactMap { $0[Tasks.title] }
        showings.update { $0 += 1 }
    }

    func observedDidLand<Value>(_ observed: Observed<Value>) {}

    func follow(_ store: RecordStore, _ list: UUID) async throws {
        let tasks = store.observe { try $0.fetch(Tasks.self, where: Tasks.list == list) }
        tasks.delegate = self
        for try await rows in tasks { show(rows) }
    }
}

@MainActor struct TableExamples {
    private let folder = ScratchFolder()
    private var file: URL { folder.file }

    private func open() async throws -> RecordStore {
        try await RecordStore.open(at: file, tables: [Tasks.self])
    }

    private func saved(_ title: String, list: UUID, to store: RecordStore) async throws {
        var values = Values<Tasks>()
        values[Tasks.id] = UUID()
        values[Tasks.list] = list
        values[Tasks.title] = title
        let row = values
        try await store.write { try $0.insert(row) }
    }

    @Test func exampleOfValuesRuns() {
        var values = Values<Tasks>()
        values[Tasks.title] = "Call the landlord"
        values[Tasks.due] = nil  // NULL, which is a value
        values.remove(Tasks.due)  // absent: a save leaves it as it is
        #expect(!values.contains(Tasks.due))
    }

    @Test func exampleOfAStoreRuns() async throws {
        let migrations = Migrations()
        var draft = Draft()
        draft[Tasks.id] = UUID()
        draft[Tasks.list] = UUID()
        draft[Tasks.title] = "Call the landlord"
        let saved = draft
        try await use(saved, migrations)
    }

    private func use(_ draft: Draft, _ migrations: Migrations) async throws {
        let store = try await RecordStore.open(at: file, tables: [Tasks.self], migrations: migrations)
        try await store.write { try $0.save(draft) }
        let open = try await store.read { try $0.fetch(Tasks.self, where: Tasks.done == false) }
        #expect(open.count == 1)
        let rows = open
        let cells = rows.records { TaskCell() }
        #expect(cells.first?.titleLabel.text == "Call the landlord")
    }

    @Test func exampleOfARecordRuns() async throws {
        let (store, list) = (try await open(), UUID())
        try await saved("old", list: list, to: store)
        let cell = TaskCell()
        // The cell has no key here, so that it can't be a row of its own.
        await #expect(throws: TableError.self) {
            let draft = Draft(cell)  // on the cell's actor
            try await store.write { try $0.save(draft) }  // all tables in one transaction
        }
    }

    @Test func exampleOfQueriesRuns() async throws {
        let (store, list, tomorrow) = (try await open(), UUID(), Date())
        try await saved("b", list: list, to: store)
        try await saved("a", list: list, to: store)
        let open = try await store.read { file in
            try file.fetch(Tasks.self, where: Tasks.done == false, orderedBy: [.ascending(Tasks.title)], limit: 20)
        }
        #expect(open.map { $0[Tasks.title] } == ["a", "b"])
        let condition =
            Tasks.list == list && (Tasks.due < tomorrow || Tasks.due == nil)
        #expect(try await store.read { try $0.count(Tasks.self, where: condition) } == 2)
        var draft = Draft(open[0])
        draft[Tasks.done] = true
        try await finish(draft, store)
        #expect(try await store.read { try $0.count(Tasks.self) } == 1)
    }

    private func finish(_ draft: Draft, _ store: RecordStore) async throws {
        try await store.write { file in
            try file.save(draft)
            try file.delete(Tasks.self, where: Tasks.done == true)
        }
    }

    @Test func exampleOfAStagingRuns() async throws {
        let (store, list) = (try await open(), UUID())
        let rows = ["a", "b"].map { title in
            var values = Values<Tasks>()
            values[Tasks.id] = UUID()
            values[Tasks.list] = list
            values[Tasks.title] = title
            return values
        }
        try await store.stage(rows) { moved, count in print("\(moved) of \(count)") }
        #expect(try await store.read { try $0.count(Tasks.self) } == 2)
    }

    @Test func exampleOfAccountsRuns() async throws {
        let folder = file.deletingLastPathComponent()
        let accounts = AccountFiles(in: folder)
        let store = try await accounts.open("ada", tables: [Tasks.self])
        try await accounts.remove("ada", closing: store)  // or seal, or store.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test func exampleOfMigrationsRuns() throws {
        let migrations = Migrations(
            Step("due dates", sql: "ALTER TABLE task ADD COLUMN due TEXT", back: "ALTER TABLE task DROP COLUMN due"))
        let step =
            Step("due dates", sql: "ALTER TABLE task ADD COLUMN due TEXT", back: "ALTER TABLE task DROP COLUMN due")
        #expect(step.back != nil)
        #expect(try migrations.differences(from: "CREATE TABLE task (id INTEGER PRIMARY KEY)", to: []).isEmpty)
    }

    @Test func stepsLeadToTheDeclarations() throws {
        let migrations = Migrations(
            Step("index", sql: "CREATE INDEX taskByList ON task (listId, due)", back: "DROP INDEX taskByList"))
        let firstRelease = String(Tasks.creatingSQL.prefix { $0 != ";" })
        #expect(try migrations.differences(from: firstRelease, to: [Tasks.self]).isEmpty)
    }

    @Test func exampleOfAnObservationRuns() async throws {
        let (store, list, screen) = (try await open(), UUID(), Screen())
        try await saved("seen", list: list, to: store)
        let following = Task { try await screen.follow(store, list) }
        try await screen.showings.wait(until: 1)
        following.cancel()
        #expect(screen.shown == ["seen"])
    }
}
