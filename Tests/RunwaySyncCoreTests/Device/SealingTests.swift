import RunwaySyncCore
import RunwaySyncSimulator
import Testing

/// Rule 1.
struct SealingTests {
    private func actions(_ pair: Pair) -> [[Operation.Action]] {
        pair.files[0].outgoing().map { $0.transaction.operations.map(\.action) }
    }

    @Test func changedColumnsAreFoundAgainstTheRowBefore() throws {
        var pair = Pair()
        try pair.write(["a": .text("1"), "b": .text("1")])
        try pair.write(["a": .text("1"), "b": .text("2")])
        try pair.write(["a": .text("3")])
        try pair.seal()
        #expect(
            actions(pair) == [
                [.insert(Pair.key, life: 1, ["a": .text("1"), "b": .text("1")])],
                [.update(Pair.key, life: 1, ["b": .text("2")])],
                [.update(Pair.key, life: 1, ["a": .text("3")])],
            ])
    }

    /// Rule 15.
    @Test func wholeRowsReturnUnknownColumns() throws {
        var pair = Pair()
        let policies = ConflictPolicies(["note": .wholeRow])
        pair.processes = pair.processes.map { _ in SyncDevice(policies) }
        try pair.files[1].update(by: pair.processes[1], at: pair.now, using: &pair.random)
        try pair.write(["a": .text("1"), "c": .text("new")], on: 1)
        try pair.sync(1)
        try pair.sync(0)
        #expect(pair.shown() == ["a": .text("1")])
        try pair.write(["a": .text("2")])
        try pair.seal()
        #expect(actions(pair) == [[.update(Pair.key, life: 1, ["a": .text("2"), "c": .text("new")])]])
    }

    /// Rule 15.
    @Test func parkedRowsAreShownAfterAnUpdate() throws {
        var pair = Pair()
        let other = RowKey("note", Identifier(high: 0, low: 2))
        try pair.files[1].update(by: pair.processes[1], at: pair.now, using: &pair.random)
        try pair.write(["n": .integer(9)], on: 1)
        try pair.write(["n": .integer(1)], other, on: 1)
        try pair.sync(1)
        try pair.sync(0)
        #expect(pair.shown() == nil && pair.shown(0, other) == ["n": .integer(1)])
        #expect(pair.files[0].parkedRows == [Pair.key])
        #expect(pair.files[0].state.digest == pair.space.history.digest)
        try pair.files[0].update(by: pair.processes[0], at: pair.now, using: &pair.random)
        #expect(pair.shown() == ["n": .integer(9)] && pair.files[0].parkedRows.isEmpty)
    }

    /// What REPLACE does.
    @Test func deleteAndInsertInOneTransactionUpdate() throws {
        var pair = Pair()
        try pair.write(["a": .text("1"), "b": .text("1")])
        try pair.files[0].write([(Pair.key, nil), (Pair.key, ["a": .text("2"), "b": .text("1")])], at: pair.now)
        try pair.seal()
        #expect(actions(pair).last == [.update(Pair.key, life: 1, ["a": .text("2")])])
    }

    @Test func deleteThenInsertIsANewLife() throws {
        var pair = Pair()
        for values in [["a": .text("1")], nil, ["a": .text("2")]] as [Columns<SyncValue>?] { try pair.write(values) }
        try pair.seal()
        #expect(
            actions(pair).joined().map { $0 } == [
                .insert(Pair.key, life: 1, ["a": .text("1")]), .delete(Pair.key, life: 2),
                .insert(Pair.key, life: 3, ["a": .text("2")]),
            ])
    }

    @Test func writesThatChangeNothingAreNotSent() throws {
        var pair = Pair()
        try pair.write(["a": .text("1")])
        try pair.write(["a": .text("1")])
        try pair.write(nil, RowKey("note", Identifier(high: 0, low: 2)))
        try pair.seal()
        #expect(actions(pair).count == 1 && pair.files[0].captured().isEmpty)
    }

    @Test func theBasisIsTheCursorAtSealing() throws {
        var pair = Pair()
        try pair.write(["a": .text("1")])
        try pair.sync()
        try pair.write(["a": .text("2")], on: 1)
        let pull = try #require(try pair.handle(.prompted, on: 1))
        let page = try pair.respond(to: pull.0)
        _ = try pair.handle(.received(page, exchange: pull.1), on: 1)
        // The page came after the write, which had not seen it.
        #expect(pair.files[1].state.cursor.number == 1)
        #expect(pair.files[1].outgoing().map(\.transaction.basis.number) == [0])
    }

    @Test func theTimeIsThatOfTheWrite() throws {
        var pair = Pair()
        try pair.write(["a": .text("1")])
        let time = pair.now
        pair.now += 3_600_000
        try pair.seal()
        #expect(pair.files[0].outgoing().map(\.transaction.time.milliseconds) == [time])
    }

    @Test func largeTransactionsThrow() throws {
        var store = MemoryDeviceStore(device: Identifier(high: 2, low: 0))
        let rows = (0...5_000).map {
            (RowKey("note", Identifier(high: 3, low: $0)), ["a": .null] as Columns<SyncValue>?)
        }
        #expect(throws: TransactionTooLarge.self) { try store.write(rows.map { (key: $0.0, values: $0.1) }, at: 0) }
        let text = SyncValue.text(String(repeating: "x", count: 5 << 20))
        #expect(throws: TransactionTooLarge.self) { try store.write([(Pair.key, ["a": text])], at: 0) }
    }

    @Test func packetsAreSentAgainAsTheyAre() throws {
        var pair = Pair()
        try pair.write(["a": .text("1")])
        for _ in 0..<2 {
            let pull = try #require(try pair.handle(.prompted))
            let push = try #require(try pair.handle(.received(try pair.respond(to: pull.0), exchange: pull.1)))
            try pair.write(["a": .text("2")])
            _ = try pair.handle(.lost(exchange: push.1))
        }
        #expect(pair.pushes.count == 2 && pair.pushes[0] == pair.pushes[1])
    }

    /// A long time without a network seals many times.
    @Test func unsentPacketsTakeLaterTransactions() throws {
        var pair = Pair()
        for text in ["1", "2", "3"] {
            try pair.write(["a": .text(text)])
            try pair.seal()
        }
        try pair.sync()
        #expect(pair.pushes.map(\.transactions.count) == [3])
    }

    @Test func fullPacketsTakeNoMoreTransactions() throws {
        var pair = Pair()
        pair.processes[0].packetLimit = 2
        for text in ["1", "2", "3"] {
            try pair.write(["a": .text(text)])
            try pair.seal()
        }
        try pair.sync()
        #expect(pair.pushes.map(\.transactions.count) == [2, 1])
    }

    /// Rule 14.
    @Test func batchesAreSealedByThemselves() throws {
        var pair = Pair()
        try pair.write(["a": .text("1")])
        let batch = BatchUpdate(table: "note", where: [], set: ["a": .text("2")])
        try pair.processes[0].updateAll(batch, at: pair.now, in: &pair.files[0], using: &pair.random)
        try pair.write(["a": .text("3")])
        try pair.sync()
        #expect(pair.pushes.count == 3 && pair.pushes[1].transactions.map(\.operations.count) == [1])
        #expect(pair.shown() == ["a": .text("3")])
        try pair.sync(1)
        #expect(pair.shown(1) == ["a": .text("3")])
    }
}
