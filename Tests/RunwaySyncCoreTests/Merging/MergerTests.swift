import RunwaySyncCore
import RunwaySyncSimulator
import Testing

/// Rules 5, 6, 7 and 14.
struct MergerTests {
    private let key = RowKey("note", Identifier(high: 0, low: 1))

    private func id(_ number: UInt64) -> Identifier { Identifier(high: 9, low: number) }

    private func author(_ device: UInt64, at time: Int64, basis: Int64, number: Int64) -> Author {
        Author(device: id(device), time: HybridTime(milliseconds: time), basis: basis, number: number)
    }

    /// A row of device 1, at log number 1 and time 100.
    private func row(_ table: String = "note") -> (RowKey, MemorySpace) {
        let key = RowKey(table, key.id)
        var store = MemorySpace(epoch: id(0))
        let stamp = Stamp(number: 1, time: HybridTime(milliseconds: 100), operation: id(10), device: id(1))
        let columns: Columns<Cell> = ["a": Cell(.text("old"), stamp), "b": Cell(.integer(1), stamp)]
        store.setRow(key, Row(life: 1, number: 1, columns: columns))
        return (key, store)
    }

    private func merge(
        _ action: Operation.Action, by author: Author, _ policy: ConflictPolicy = .newestPerColumn,
        over store: MemorySpace
    ) throws -> (Merger, Merger.Outcome) {
        var merger = Merger(ConflictPolicies(["note": policy]))
        let outcome = try merger.merge(Operation(id: id(50), action: action), by: author, over: store)
        return (merger, outcome)
    }

    @Test func aCoveredChangeWinsWhateverItsClock() throws {
        let (key, store) = row()
        let author = author(2, at: 1, basis: 1, number: 2)
        let (merger, outcome) = try merge(.update(key, life: 1, ["a": .text("new")]), by: author, over: store)
        let cell = try #require(try merger.row(key, over: store).columns["a"])
        #expect(cell.value == .text("new") && outcome == .merged(isConflict: false))
        // Its stored clock is above the one that it replaced.
        #expect(cell.stamp.time == HybridTime(milliseconds: 100).next)
    }

    @Test(arguments: [(99, "old"), (101, "new")])
    func clocksDecideConcurrentChanges(time: Int64, winner: String) throws {
        let (key, store) = row()
        let author = author(2, at: time, basis: 0, number: 2)
        let (merger, outcome) = try merge(.update(key, life: 1, ["a": .text("new")]), by: author, over: store)
        #expect(try merger.row(key, over: store).columns["a"]?.value == .text(winner))
        #expect(outcome == .merged(isConflict: true))
    }

    @Test func equalClocksAreDecidedByTheOperation() throws {
        let (key, store) = row()
        let author = author(2, at: 100, basis: 0, number: 2)
        let (merger, _) = try merge(.update(key, life: 1, ["a": .text("new")]), by: author, over: store)
        #expect(try merger.row(key, over: store).columns["a"]?.value == .text("new"))
    }

    @Test func aDeviceNeverConflictsWithItself() throws {
        let (key, store) = row()
        let author = author(1, at: 1, basis: 0, number: 2)
        let (merger, outcome) = try merge(.update(key, life: 1, ["a": .text("new")]), by: author, over: store)
        #expect(try merger.row(key, over: store).columns["a"]?.value == .text("new"))
        #expect(outcome == .merged(isConflict: false))
    }

    @Test func otherColumnsMerge() throws {
        let (key, store) = row()
        let author = author(2, at: 1, basis: 0, number: 2)
        let (merger, outcome) = try merge(.update(key, life: 1, ["c": .text("new")]), by: author, over: store)
        #expect(try merger.row(key, over: store).columns.count == 3)
        #expect(outcome == .merged(isConflict: false))
    }

    /// Rule 6.
    @Test func largerLivesWin() throws {
        let (key, store) = row()
        let author = author(2, at: 1, basis: 0, number: 2)
        let (deleted, _) = try merge(.delete(key, life: 2), by: author, over: store)
        #expect(try deleted.row(key, over: store) == Row(life: 2, number: 2, columns: [:]))
        let (inserted, _) = try merge(.insert(key, life: 3, ["a": .null]), by: author, over: store)
        #expect(try inserted.row(key, over: store).values == ["a": .null])
        let tombstone = RowKey("note", id(77))
        let (unknown, _) = try merge(.delete(tombstone, life: 2), by: author, over: store)
        #expect(try unknown.row(tombstone, over: store).life == 2)
    }

    /// Rule 6.
    @Test func earlierLivesAreSuperseded() throws {
        var (key, store) = row()
        store.setRow(key, Row(life: 2, number: 2, columns: [:]))
        let author = author(2, at: 900, basis: 0, number: 3)
        for action in [Operation.Action.update(key, life: 1, ["a": .null]), .insert(key, life: 1, ["a": .null])] {
            #expect(try merge(action, by: author, over: store).1 == .superseded)
        }
        let (merger, outcome) = try merge(.delete(key, life: 2), by: author, over: store)
        #expect(outcome == .merged(isConflict: false) && merger.rows.isEmpty)
    }

    @Test func livesAlternate() {
        let lives = [0, 1, 2, 3].map { Row(life: $0, number: 0, columns: [:]) }
        #expect(lives.map(\.lifeOfInsert) == [1, 3, 3, 5])
        #expect(lives.map(\.lifeOfDelete) == [2, 2, 4, 4])
    }

    /// Rule 7.
    @Test func wholeRowsWinOrLose() throws {
        let (key, store) = row()
        let author = author(2, at: 50, basis: 0, number: 2)
        let action = Operation.Action.update(key, life: 1, ["a": .text("new"), "c": .text("new")])
        let (merger, _) = try merge(action, by: author, .wholeRow, over: store)
        #expect(merger.rows.isEmpty)
    }

    /// Rule 7.
    @Test func keepBothMakesOneCopyForADevice() throws {
        let (key, store) = row()
        let author = author(2, at: 50, basis: 0, number: 2)
        var merger = Merger(ConflictPolicies(["note": .keepBoth]))
        let actions = [
            Operation.Action.update(key, life: 1, ["a": .text("x")]), .update(key, life: 1, ["b": .integer(7)]),
        ]
        for (index, action) in actions.enumerated() {
            _ = try merger.merge(Operation(id: id(60 + UInt64(index)), action: action), by: author, over: store)
        }
        let copy = try #require(merger.rows.keys.first)
        #expect(merger.rows.count == 1 && copy != key)
        #expect(merger.rows[copy]?.values == ["a": .text("x"), "b": .integer(7)])
    }

    /// Rule 7.
    @Test func askPutsTheLoserIntoTheEntry() throws {
        let (key, store) = row()
        let (lost, _) = try merge(
            .update(key, life: 1, ["a": .text("new")]), by: author(2, at: 50, basis: 0, number: 2), .ask, over: store)
        #expect(lost.changes(at: 2).map(\.losers) == [["a": .text("new")]])
        let (won, _) = try merge(
            .update(key, life: 1, ["a": .text("new")]), by: author(2, at: 500, basis: 0, number: 2), .ask, over: store)
        #expect(won.changes(at: 2).map(\.losers) == [["a": .text("old")]])
    }

    /// Rule 14.
    @Test func batchesChangeMatchingRowsOnly() throws {
        var (key, store) = row()
        let other = RowKey("note", id(5))
        store.setRow(other, Row(life: 2, number: 1, columns: [:]))
        let author = author(2, at: 200, basis: 1, number: 2)
        let batch = BatchUpdate(
            table: "note", where: [.init("b", .less, .integer(2)), .init("a", .notEqual, .null)],
            set: ["c": .integer(1)])
        let (merger, _) = try merge(.batch(batch), by: author, over: store)
        #expect(merger.rows.keys.map { $0 } == [key])
        let none = BatchUpdate(
            table: "note", where: [.init("b", .greaterOrEqual, .integer(2))], set: ["c": .integer(1)])
        #expect(try merge(.batch(none), by: author, over: store).0.rows.isEmpty)
    }
}
