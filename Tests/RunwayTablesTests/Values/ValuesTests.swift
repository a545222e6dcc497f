import Foundation
import Testing

@testable import RunwayTables

/// A view's stand-in: a class on the main actor, over two tables.
@MainActor private final class TaskCell {
    var title: String?
    var listName = "none"
    var due: Date?
    let id = UUID()
}

extension TaskCell: @MainActor VirtualRecord {
    func write(to draft: inout Draft) {
        draft[Tasks.id] = id
        draft[Tasks.list] = UUID()
        draft[Tasks.title] = title
        draft[Tasks.due] = due
        draft[Lists.name_] = listName
    }

    func read(from draft: Draft) {
        title = draft[Tasks.title]
        due = draft[Tasks.due]
        listName = draft[Lists.name_] ?? listName
    }
}

private struct TaskTitle: VirtualRecord {
    var title: String?
    var due: Date?

    func write(to draft: inout Draft) {
        draft[Tasks.title] = title
        if let due { draft[Tasks.due] = due }
    }

    mutating func read(from draft: Draft) { (title, due) = (draft[Tasks.title], draft[Tasks.due]) }
}

struct ValuesTests {
    @Test func absentAndNullAreTwoThings() {
        var values = Values<Tasks>()
        #expect(!values.contains(Tasks.due))
        values[Tasks.due] = nil
        #expect(values.contains(Tasks.due) && values[Tasks.due] == nil)
        values.remove(Tasks.due)
        #expect(!values.contains(Tasks.due) && values == Values<Tasks>())
        values[Tasks.title] = "a"
        values[Tasks.title] = nil
        #expect(!values.contains(Tasks.title))
    }

    @Test func changedValuesChangeNothingOnDisk() async throws {
        let folder = ScratchFolder()
        let store = try await folder.open()
        let written = task("first")
        try await store.write { try $0.insert(written) }
        var read = try #require(try await store.read { try $0.fetchFirst(Tasks.self) })
        read[Tasks.title] = "second"
        #expect(try await store.read { try $0.fetchFirst(Tasks.self) }?[Tasks.title] == "first")
    }

    @Test func secretsAreRedactedInEveryDescription() {
        var values = Values<Notes>()
        values[Notes.id] = "1"
        values[Notes.text] = Secret("treasure")
        var texts = [
            values.description, "\(values[Notes.text] as Any)", String(reflecting: values), "\(Draft(values))",
        ]
        var dumped = ""
        dump(Draft(values), to: &dumped)
        dump(values[Notes.text], to: &dumped)
        dump([values], to: &dumped)
        texts.append(dumped)
        #expect(texts.allSatisfy { !$0.contains("treasure") })
        #expect(values.description.contains("id: \"1\""))
    }

    @Test @MainActor func oneRecordStandsOverTwoTables() async throws {
        let folder = ScratchFolder()
        let store = try await folder.open()
        let cell = TaskCell()
        (cell.title, cell.listName) = ("Call", "Home")
        let draft = Draft(cell)
        try await store.write { try $0.save(draft) }
        let (tasks, lists) = try await store.read { (try $0.fetch(Tasks.self), try $0.fetch(Lists.self)) }
        #expect(tasks.first?[Tasks.title] == "Call" && lists.first?[Lists.name_] == "Home")
        // The type is chosen at the read: a view, or a struct.
        let cells = [Draft(tasks[0], lists[0])].records { TaskCell() }
        #expect(cells.first?.title == "Call" && cells.first?.listName == "Home")
        #expect(tasks.records { TaskTitle() }.first?.title == "Call")
    }

    @Test func fillingKeepsWhatIsThere() {
        var draft = Draft()
        draft[Tasks.title] = "stored"
        draft[Tasks.due] = Date(timeIntervalSince1970: 5)
        var record = TaskTitle(title: "typed", due: nil)
        record.fill(from: draft)
        #expect(record.title == "typed" && record.due == Date(timeIntervalSince1970: 5))
        record.override(from: draft)
        #expect(record.title == "stored")
    }

    @Test func draftsMergeByColumn() {
        var (first, second) = (Draft(), Draft())
        first[Tasks.title] = "a"
        second[Tasks.title] = "b"
        second[Tasks.done] = true
        second[Lists.id] = 4
        var merged = first
        merged.merge(second, overriding: false)
        #expect(merged[Tasks.title] == "a" && merged[Tasks.done] == true && merged[Lists.id] == 4)
        merged.merge(second, overriding: true)
        #expect(merged[Tasks.title] == "b")
        #expect(merged.values(of: Lists.self)[Lists.id] == 4 && merged.contains(Tasks.done))
        merged.remove(Tasks.done)
        #expect(!merged.contains(Tasks.done))
    }
}
