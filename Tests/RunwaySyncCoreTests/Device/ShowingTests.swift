import RunwaySyncCore
import RunwaySyncSimulator
import Testing

/// Rules 1 and 5: an event costs what it changes, whatever else is pending.
struct ShowingTests {
    /// A device's file that counts the rows that are read.
    private struct CountingStore: DeviceStore {
        final class Reads { var count = 0 }

        var file: MemoryDeviceStore
        let reads = Reads()

        var state: DeviceState { file.state }
        mutating func setState(_ state: DeviceState) { file.setState(state) }
        func row(_ key: RowKey) -> Row {
            reads.count += 1
            return file.row(key)
        }
        mutating func setRow(_ key: RowKey, _ row: Row) { file.setRow(key, row) }
        func keys(matching batch: BatchUpdate, limit: Int) -> [RowKey] { file.keys(matching: batch, limit: limit) }
        func shown(_ key: RowKey) -> Columns<SyncValue>? {
            reads.count += 1
            return file.shown(key)
        }
        mutating func show(_ key: RowKey, _ values: Columns<SyncValue>?) { file.show(key, values) }
        var previewed: Set<RowKey> { file.previewed }
        mutating func setPreviewed(_ keys: Set<RowKey>, of all: Set<RowKey>) { file.setPreviewed(keys, of: all) }
        func captured() -> [CapturedTransaction] { file.captured() }
        mutating func removeCaptured() { file.removeCaptured() }
        func outgoing() -> [Outgoing] { file.outgoing() }
        mutating func put(_ outgoing: Outgoing) { file.put(outgoing) }
        mutating func remove(outgoing sequence: Int64) { file.remove(outgoing: sequence) }
        func staged(_ key: RowKey) -> Row { file.staged(key) }
        mutating func stage(_ key: RowKey, _ row: Row) { file.stage(key, row) }
        mutating func removeStaged() { file.removeStaged() }
        mutating func adoptStaged() { file.adoptStaged() }
    }

    /// Two devices with one row, the first of which has 500 sealed inserts that were not sent.
    private func pairWithBacklog() throws -> Pair {
        var pair = Pair()
        try pair.write(["a": .text("1")])
        for device in 0...1 { try pair.sync(device) }
        for number: UInt64 in 100..<600 {
            try pair.write(["a": .text("1")], RowKey("note", Identifier(high: 0, low: number)))
        }
        try pair.seal()
        return pair
    }

    @Test func pageReadsOnlyTheRowsItChanges() throws {
        var pair = try pairWithBacklog()
        try pair.write(["a": .text("2")], on: 1)
        try pair.sync(1)
        let pull = try #require(try pair.handle(.prompted))
        let page = try pair.respond(to: pull.0)
        var store = CountingStore(file: pair.files[0])
        _ = try pair.processes[0].handle(
            .received(page, exchange: pull.1), at: pair.now, in: &store, using: &pair.random)
        #expect(store.shown(Pair.key) == ["a": .text("2")])
        #expect(store.reads.count < 10)
    }

    @Test func sealingReadsOnlyTheRowsItSeals() throws {
        var pair = try pairWithBacklog()
        try pair.write(["a": .text("2")])
        var store = CountingStore(file: pair.files[0])
        try pair.processes[0].seal(at: pair.now, in: &store, using: &pair.random)
        #expect(store.outgoing().count == 502)
        #expect(store.reads.count < 10)
    }

    @Test func withdrawnTransactionHidesAllItsRows() throws {
        var pair = Pair()
        let other = RowKey("note", Identifier(high: 0, low: 2))
        try pair.write(["a": .text("1")])
        try pair.write(["a": .text("1")], other)
        try pair.sync()
        try pair.files[0].write([(Pair.key, ["a": .text("2")]), (other, ["a": .text("2")])], at: pair.now)
        try pair.seal()
        let transaction = try #require(pair.files[0].outgoing().last).transaction.id
        _ = try pair.handle(.withdrew(transaction))
        #expect(pair.shown() == ["a": .text("1")] && pair.shown(0, other) == ["a": .text("1")])
        #expect(pair.files[0].previewed.isEmpty)
    }
}
