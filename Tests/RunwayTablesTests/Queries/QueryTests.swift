import Foundation
import Testing

@testable import RunwayTables

/// A table in which two columns together identify a row.
private enum Shares: RunwayTables.TableDefinition {
    static let name = "share"
    static let list = Column<Int>("list"), person = Column<String>("person"), rank = Column<Int>("rank", default: 1)
    static let columns = TableColumns<Self>(list, person, rank, keyColumnCount: 2)
}

struct QueryTests {
    private let folder = ScratchFolder()
    private let list = UUID()

    private func store() async throws -> RecordStore {
        let store = try await folder.open()
        let rows = (0..<10).map { number in
            task("task \(number)", list: list, due: number < 3 ? nil : Date(timeIntervalSince1970: Double(number)))
        }
        try await store.write { file in for row in rows { try file.insert(row) } }
        return store
    }

    private func titles(_ store: RecordStore, _ condition: Condition<Tasks>?) async throws -> [String] {
        try await store.read { file in
            try file.fetch(Tasks.self, where: condition, orderedBy: [.ascending(Tasks.title)])
                .compactMap { $0[Tasks.title]?.suffix(1) }.map(String.init)
        }
    }

    @Test func conditionsSelectRows() async throws {
        let store = try await store()
        let (five, list) = (Date(timeIntervalSince1970: 5), list)
        #expect(try await titles(store, Tasks.due == nil) == ["0", "1", "2"])
        #expect(try await titles(store, Tasks.due == five) == ["5"])
        #expect(try await titles(store, Tasks.due != five).count == 9)
        #expect(try await titles(store, Tasks.due != nil).count == 7)
        #expect(try await titles(store, Tasks.due < five) == ["3", "4"])
        #expect(try await titles(store, Tasks.due <= five && Tasks.title != "task 3") == ["4", "5"])
        #expect(try await titles(store, Tasks.due > five || Tasks.title == "task 0").count == 5)
        #expect(try await titles(store, Tasks.due >= five && !(Tasks.title > "task 6")) == ["5", "6"])
        #expect(try await titles(store, Tasks.title.isAny(of: ["task 1", "task 9", "x"])) == ["1", "9"])
        #expect(try await titles(store, Tasks.due.isAny(of: [five])) == ["5"])
        #expect(try await titles(store, Tasks.title.isAny(of: [])).isEmpty)
        #expect(try await titles(store, Tasks.list == list && Tasks.done == false).count == 10)
    }

    @Test func orderLimitAndCountHold() async throws {
        let store = try await store()
        try await store.read { file in
            let last = try file.fetch(
                Tasks.self, orderedBy: [.descending(Tasks.due), .ascending(Tasks.title)], limit: 2)
            #expect(last.map { $0[Tasks.title] } == ["task 9", "task 8"])
            let first = try file.fetch(
                Tasks.self, orderedBy: [.ascending(Tasks.due), .descending(Tasks.title)], limit: 1)
            #expect(first.first?[Tasks.title] == "task 2")
            #expect(try file.count(Tasks.self) == 10 && file.count(Tasks.self, where: Tasks.due == nil) == 3)
            #expect(try file.fetch(Tasks.self, limit: 0).isEmpty && file.fetch(Tasks.self, limit: -1).isEmpty)
        }
    }

    @Test func twoColumnsIdentifyARow() async throws {
        func share(_ list: Int, _ person: String?, _ rank: Int? = nil) -> Values<Shares> {
            var row = Values<Shares>()
            (row[Shares.list], row[Shares.person], row[Shares.rank]) = (list, person, rank)
            return row
        }
        var store = try await folder.open([Shares.self])
        let rows = [share(1, "ada"), share(1, "bob"), share(2, "ada"), share(1, "ada", 5)]
        try await store.write { file in for row in rows { try file.save(row) } }
        let half = share(1, nil, 6)
        #expect(await kind { try await store.write { _ = try $0.save(half) } } == .rejected)
        try await store.close()
        store = try await folder.open([Shares.self])
        let found = try await store.read {
            try $0.fetch(Shares.rank, orderedBy: [.ascending(Shares.list), .ascending(Shares.person)])
        }
        #expect(found == [share(1, "ada", 5), share(1, "bob", 1), share(2, "ada", 1)])
        #expect(try await store.write { try $0.delete(Shares.self, where: Shares.person == "ada") } == 2)
    }

    @Test func someColumnsLeaveOthersAbsent() async throws {
        let store = try await store()
        let row = try #require(
            try await store.read { try $0.fetch(Tasks.title, where: Tasks.title == "task 4").first })
        #expect(row[Tasks.title] == "task 4" && row.contains(Tasks.id) && !row.contains(Tasks.done))
    }

    @Test func savesChangeOnlyWhatTheyName() async throws {
        let store = try await folder.open()
        let full = task("first", due: Date(timeIntervalSince1970: 9))
        try await store.write { file in
            try file.save(full)
            var part = Values<Tasks>()
            part[Tasks.id] = full[Tasks.id]
            part[Tasks.done] = true
            try file.save(part)
            #expect(try file.update(task("nobody")) == false)
            let row = try #require(try file.fetchFirst(Tasks.self))
            #expect(row[Tasks.done] == true && row[Tasks.title] == "first" && row[Tasks.due] == full[Tasks.due])
            // A part of a row that is not there is no row.
            part[Tasks.id] = UUID()
            #expect(throws: TableError.self) { try file.save(part) }
            var change = Values<Tasks>()
            change[Tasks.due] = nil
            #expect(try file.updateAll(change, where: Tasks.done == true) == 1)
            #expect(try file.count(Tasks.self, where: Tasks.due == nil) == 1)
            #expect(try file.delete(Tasks.self, where: Tasks.title == "first") == 1)
        }
    }

    @Test func integerKeysAreAssigned() async throws {
        let store = try await folder.open()
        let rows = try await store.write { file in
            (try file.insert(Values<Lists>()), try file.save(Values<Lists>()))
        }
        #expect(rows.0[Lists.id] == 1 && rows.1[Lists.id] == 2)
        #expect(try await store.read { try $0.fetchFirst(Lists.self) }?[Lists.name_] == "it's new")
    }

    @Test func invalidRowsRefuseTheTransaction() async throws {
        let store = try await folder.open()
        let empty = task("")
        #expect(await kind { _ = try await store.write { try $0.insert(empty) } } == .rejected)
        #expect(await kind { _ = try await store.write { try $0.insert(Values<Tasks>()) } } == .rejected)
        await #expect(throws: Refusal.self) {
            try await store.write { file in
                try file.insert(task("stays?"))
                var list = Values<Lists>()
                list[Lists.name_] = "refused"
                try file.insert(list)
            }
        }
        let twice = task("twice")
        #expect(
            await kind {
                _ = try await store.write {
                    try $0.insert(twice); try $0.insert(twice)
                }
            } == .rejected)
        #expect(try await store.read { try $0.count(Tasks.self) } == 0)
    }

    @Test func invalidUpdatesAreRefused() async throws {
        let store = try await folder.open()
        let row = task("valid")
        let list = try await store.write { file in
            try file.insert(row)
            return try file.insert(Values<Lists>())
        }
        var (untitled, refused) = (Values<Tasks>(), list)
        untitled[Tasks.id] = row[Tasks.id]
        untitled[Tasks.title] = ""
        refused[Lists.name_] = "refused"
        let (title, name) = (untitled, refused)
        #expect(await kind { _ = try await store.write { try $0.update(title) } } == .rejected)
        #expect(await kind { _ = try await store.write { try $0.save(title) } } == .rejected)
        await #expect(throws: Refusal.self) { try await store.write { try $0.update(name) } }
        await #expect(throws: Refusal.self) { try await store.write { try $0.save(name) } }
        var (emptyTitle, forbiddenName) = (Values<Tasks>(), Values<Lists>())
        emptyTitle[Tasks.title] = ""
        forbiddenName[Lists.name_] = "refused"
        let (allTitles, allNames) = (emptyTitle, forbiddenName)
        #expect(await kind { _ = try await store.write { try $0.updateAll(allTitles, where: nil) } } == .rejected)
        await #expect(throws: Refusal.self) { try await store.write { try $0.updateAll(allNames, where: nil) } }
        #expect(try await titles(store, nil) == ["d"])
        #expect(try await store.read { try $0.fetch(Lists.self).map { $0[Lists.name_] } } == ["it's new"])
    }
}
