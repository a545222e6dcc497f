import Foundation
import GRDB
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayTables

func list(_ id: Int, _ name: String? = nil) -> Values<Lists> {
    var row = Values<Lists>()
    row[Lists.id] = id
    row[Lists.name_] = name
    return row
}

/// Lists with numbers from 1, which are made when they are asked for.
struct NumberedLists: AsyncSequence, Sendable {
    let count: Int
    var name = "staged"
    /// Called before each row, and after the last one.
    var before: @Sendable (Int) async throws -> Void = { _ in }

    struct Iterator: AsyncIteratorProtocol {
        let lists: NumberedLists
        var number = 0

        mutating func next() async throws -> Values<Lists>? {
            number += 1
            try await lists.before(number)
            return number > lists.count ? nil : list(number, lists.name)
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(lists: self) }
}

/// A table in which two rows can't have one name.
private enum UniqueLists: RunwayTables.TableDefinition {
    static let name = "list"
    static let id = Column<Int>("id"), name_ = Column<String>("name", default: "it's new")
    static let columns = TableColumns<Self>(id, name_)
    static let indexes = [Index("listName", on: name_, isUnique: true)]
}

struct StagingTests {
    private let folder = ScratchFolder()
    private var stagings: [URL] { StoreFiles.stagings(of: folder.file) }

    private func count(_ store: RecordStore, _ condition: Condition<Lists>? = nil) async throws -> Int {
        try await store.read { try $0.count(Lists.self, where: condition) }
    }

    @Test func stagedRowsAreSavedInOrder() async throws {
        let store = try await folder.open()
        try await store.write { file in
            try file.insert(list(2, "former"))
            try file.insert(task("a task"))
        }
        let moves = Mutex<[Int]>([])
        // The second row has no name, so that the former one stays; the last two have one key.
        let rows = [list(1, "a"), list(2), Values<Lists>(), list(4, "b"), list(4, "c")]
        let staged = try await store.stage(rows) { moved, count in moves.withLock { $0.append(moved * 10 + count) } }
        #expect(staged == 5 && moves.withLock { $0.last } == 55)
        let names = try await store.read { try $0.fetch(Lists.self, orderedBy: [.ascending(Lists.id)]) }
        #expect(names.map { $0[Lists.name_] } == ["a", "former", "it's new", "c"])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.url.path).allSatisfy { !$0.contains("stag") })
        let marks = try await store.read { try Int.fetchOne($0.connection, sql: "SELECT COUNT(*) FROM runway_staging") }
        #expect(marks == 0)
        try await store.close()
        // The table of stagings is no difference.
        try await folder.open().close()
    }

    @Test func aDraftIsMovedAsAWhole() async throws {
        let store = try await folder.open()
        let drafts = AsyncStream<Draft> { continuation in
            for number in 1...600 { continuation.yield(Draft(list(number), task("\(number)"))) }
            continuation.finish()
        }
        let differences = Mutex(0)
        _ = await MainActor.run {
            store.observe { file in
                let difference = try file.count(Lists.self) - file.count(Tasks.self)
                differences.withLock { $0 += abs(difference) }
                return difference
            }
        }
        #expect(try await store.stage(drafts) == 600)
        #expect(try await store.read { try $0.count(Tasks.self) } == 600)
        #expect(differences.withLock { $0 } == 0)
    }

    @Test func otherWritesWaitForOneTransaction() async throws {
        let store = try await folder.open()
        let moves = Mutex(0)
        let staging = Task {
            try await store.stage(NumberedLists(count: 4000)) { _, _ in moves.withLock { $0 += 1 } }
        }
        var (writes, waits) = (0, [Int]())
        while moves.withLock({ $0 }) == 0 { try await store.write { _ in } }
        while try await count(store, Lists.name_ == "staged") < 4000 {
            let former = moves.withLock { $0 }
            let present = try await store.write { file in
                try file.insert(task("between"))
                return moves.withLock { $0 }
            }
            writes += 1
            waits.append(present - former)
        }
        #expect(try await staging.value == 4000)
        #expect(writes > 5)
        // One transaction that runs, and one that has ended and was not reported yet.
        #expect(waits.allSatisfy { $0 <= 2 }, "\(waits)")
    }

    @Test func stagedRowsDoNotWaitForTheDrive() async throws {
        let store = try await folder.open()
        let statements = Mutex<[String]>([])
        try await store.queue().writeWithoutTransaction { database in
            database.trace { event in statements.withLock { $0.append(event.description) } }
        }
        try await store.stage((1...500).map { list($0) })
        let levels = statements.withLock { $0.filter { $0.hasPrefix("PRAGMA synchronous") } }
        #expect(levels.count >= 4 && levels.count { $0 == "PRAGMA synchronous = NORMAL" } == levels.count / 2)
        let level = try await store.write { try Int.fetchOne($0.connection, sql: "PRAGMA synchronous") }
        #expect(level == 2)
    }

    @Test func thePaceFollowsMeasuredTime() {
        var pace = StagingPace()
        for _ in 0..<20 { pace.didMove(pace.rowCount, in: .microseconds(pace.rowCount * 20)) }
        #expect(pace.rowCount == 100)
        pace.didMove(250, in: .milliseconds(50))
        #expect(pace.rowCount == 10)
        pace.didMove(10, in: .seconds(5))
        #expect(pace.rowCount == 1)
        pace.didMove(1, in: .zero)
        #expect(pace.rowCount == 2)
        for _ in 0..<20 { pace.didMove(pace.rowCount, in: .zero) }
        #expect(pace.rowCount == 2000)
        // Fewer rows than fit were left, or had too many bytes.
        pace.didMove(10, in: .milliseconds(1))
        #expect(pace.rowCount == 20)
    }

    @Test func anUnfinishedSideFileLeavesNothing() async throws {
        let store = try await folder.open()
        let reached = AwaitedValue(0)
        let staging = Task {
            try await store.stage(
                NumberedLists(count: 3000, name: String(repeating: "x", count: 1000)) { number in
                    guard number == 2500 else { return }
                    reached.update { $0 += 1 }
                    try await Task.sleep(for: .seconds(600))
                })
        }
        try await reached.wait(until: 1)
        #expect(stagings.count == 1)
        staging.cancel()
        await #expect(throws: CancellationError.self) { try await staging.value }
        #expect(stagings.isEmpty)
        await #expect(throws: Refusal.self) {
            try await store.stage(NumberedLists(count: 3000) { if $0 == 2500 { throw Refusal() } })
        }
        for name in ["", "refused"] {
            await #expect(throws: (any Error).self) {
                try await store.stage([list(1), list(2, "\0"), list(3, name)])
            }
        }
        #expect(try await count(store) == 0 && stagings.isEmpty)
    }

    @Test func invalidRowsAreRefusedBeforeAnyIsMoved() async throws {
        let store = try await folder.open()
        await #expect(throws: Refusal.self) { try await store.stage([list(1), list(2, "refused")]) }
        func expectRefusal(_ rows: [Values<Tasks>]) async {
            let result = await kind { _ = try await store.stage(rows) }
            #expect(result == .rejected && stagings.isEmpty)
        }
        var row = task("without a key")
        row.remove(Tasks.id)
        await expectRefusal([task("x"), row])
        await expectRefusal([task("x"), task("")])
        #expect(try await store.read { try $0.count(Tasks.self) } == 0)
        // It is an update of a row that there is not.
        row = task("without a title")
        row.remove(Tasks.title)
        await expectRefusal([row])
        #expect(stagings.isEmpty)
    }

    @Test func aRowRefusedLateEndsTheStaging() async throws {
        let store = try await folder.open([UniqueLists.self])
        let rows = AsyncStream<Values<UniqueLists>> { continuation in
            for number in 1...500 {
                var row = Values<UniqueLists>()
                row[UniqueLists.id] = number
                row[UniqueLists.name_] = "\(number == 400 ? 7 : number)"
                continuation.yield(row)
            }
            continuation.finish()
        }
        let moved = Mutex(0)
        let error = await #expect(throws: TableError.self) {
            try await store.stage(rows) { count, _ in moved.withLock { $0 = count } }
        }
        let left = moved.withLock { $0 }
        #expect(error?.kind == .rejected && error?.description.contains("after \(left) of 500 rows") == true)
        #expect(try await store.read { try $0.count(UniqueLists.self) } == left && (1..<400).contains(left))
        #expect(stagings.isEmpty)
        try await store.finishStaging()
    }
}
