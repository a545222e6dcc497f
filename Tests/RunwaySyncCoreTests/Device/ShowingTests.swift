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
        var copies: [RowKey: RowKey]? { file.copies }
        mutating func setCopies(_ copies: [RowKey: RowKey]) { file.setCopies(copies) }
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

    private static let policies = [ConflictPolicy.newestPerColumn, .wholeRow, .keepBoth, .ask]

    /// Two devices with one row, the first of which has 500 sealed inserts and an update that were not sent.
    private func pairWithBacklog(_ policy: ConflictPolicy) throws -> Pair {
        var pair = Pair(ConflictPolicies(["note": policy]))
        try pair.write(["a": .text("1")])
        for device in 0...1 { try pair.sync(device) }
        for number: UInt64 in 100..<600 {
            try pair.write(["a": .text("1")], RowKey("note", Identifier(high: 0, low: number)))
        }
        try pair.write(["a": .text("own")])
        try pair.seal()
        return pair
    }

    @Test(arguments: policies)
    func pageReadsOnlyTheRowsItChanges(_ policy: ConflictPolicy) throws {
        var pair = try pairWithBacklog(policy)
        // The second value makes another copy than the first one.
        for value in ["2", "3"] {
            try pair.write(["a": .text(value)], on: 1)
            try pair.sync(1)
            let pull = try #require(try pair.handle(.prompted))
            let page = try pair.respond(to: pull.0)
            var store = CountingStore(file: pair.files[0])
            _ = try pair.processes[0].handle(
                .received(page, exchange: pull.1), at: pair.now, in: &store, using: &pair.random)
            #expect(store.reads.count < 20)
            #expect(store.shown(Pair.key) == ["a": .text(value)])
            let copies = store.file.shownRows.filter { $0.value["a"] == .text("own") }
            #expect(copies.count == (policy == .keepBoth ? 1 : 0))
            pair.files[0] = store.file
            _ = try pair.handle(.lost(exchange: pull.1 + 1))
        }
    }

    @Test(arguments: policies)
    func sealingReadsOnlyTheRowsItSeals(_ policy: ConflictPolicy) throws {
        var pair = try pairWithBacklog(policy)
        try pair.write(["a": .text("2")])
        var store = CountingStore(file: pair.files[0])
        try pair.processes[0].seal(at: pair.now, in: &store, using: &pair.random)
        #expect(store.outgoing().count == 503)
        #expect(store.reads.count < 20)
    }

    /// Lets the first device pull, and returns its push, which is not sent.
    private func pull(_ pair: inout Pair) throws -> (request: SyncRequest, exchange: Int64) {
        var sent = try #require(try pair.handle(.prompted))
        while case .pull = sent.0 {
            sent = try #require(try pair.handle(.received(try pair.respond(to: sent.0), exchange: sent.1)))
        }
        return sent
    }

    @Test func changedCopyShowsWhatWaits() throws {
        var pair = Pair(ConflictPolicies(["note": .keepBoth]))
        pair.processes[0].packetLimit = 1
        try pair.write(["a": .text("1"), "b": .text("1")])
        for device in 0...1 { try pair.sync(device) }
        for column in ["a", "b"] { try pair.write([column: .text("own")]) }
        try pair.seal()
        try pair.write(["a": .text("2"), "b": .text("2")], on: 1)
        try pair.sync(1)
        // The server receives the first change of the copy, and the second one waits.
        let push = try pull(&pair)
        let verdict = try pair.respond(to: push.request)
        let next = try #require(try pair.handle(.received(verdict, exchange: push.exchange)))
        _ = try pair.handle(.lost(exchange: next.1))
        _ = try pair.handle(.lost(exchange: pull(&pair).exchange))
        let copy = try #require(pair.files[0].shownRows.keys.first { $0 != Pair.key })
        #expect(pair.shown(0, copy) == ["a": .text("own"), "b": .text("own")])
        try pair.sync(1)
        try pair.write(["a": .text("3")], copy, on: 1)
        try pair.sync(1)
        _ = try pull(&pair)
        #expect(pair.shown(0, copy) == ["a": .text("3"), "b": .text("own")])
        #expect(try pair.files[0].showsAll(by: pair.processes[0]))
    }

    /// The ids of copies are no secret: a device can insert the row before there is a conflict.
    @Test func copyThatAnotherDeviceForesawShowsWhatWaits() throws {
        var pair = Pair(devices: 3, ConflictPolicies(["note": .keepBoth]))
        try pair.write(["a": .text("1"), "b": .text("1")])
        for device in 0...2 { try pair.sync(device) }
        try pair.write(["a": .text("2")], on: 1)
        try pair.seal(1)
        let rival = try #require(pair.files[1].outgoing().last?.transaction.operations.first).id
        let device = pair.files[0].state.device
        let copy = RowKey("note", .version5(of: rival.bytes + device.bytes, in: Pair.key.id))
        try pair.write(["a": .text("3"), "b": .text("3")], copy, on: 2)
        try pair.sync(2)
        try pair.write(["a": .text("own")])
        try pair.seal()
        _ = try pair.handle(.lost(exchange: pull(&pair).exchange))
        try pair.write(["b": .text("own")], copy)
        try pair.seal()
        try pair.sync(1)
        _ = try pull(&pair)
        #expect(pair.shown(0, copy) == ["a": .text("own"), "b": .text("own")])
        #expect(try pair.files[0].showsAll(by: pair.processes[0]))
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
