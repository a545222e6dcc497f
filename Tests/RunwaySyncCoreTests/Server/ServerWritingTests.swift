import RunwaySyncCore
import RunwaySyncSimulator
import Testing

/// Writes of the server's own (rule 21), and marks that its pages carry.
struct ServerWritingTests {
    private let own = Identifier(high: 9, low: 9)

    private func write(
        _ rows: [(key: RowKey, values: Columns<SyncValue>?)], to pair: inout Pair
    ) throws -> (transaction: Transaction, verdict: Verdict)? {
        pair.now += 1
        return try pair.server.write(rows, as: own, at: pair.now, in: &pair.space, using: &pair.random)
    }

    @Test func theServerWritesIntoRowsOfDevices() throws {
        var pair = Pair(devices: 1)
        try pair.write(["a": .text("1"), "b": .text("2")])
        try pair.sync()
        let new = RowKey("note", Identifier(high: 0, low: 5))
        let written = try #require(try write([(Pair.key, ["a": .text("3")]), (new, ["a": .null])], to: &pair))
        #expect(written.verdict == .applied(2))
        try pair.sync()
        #expect(pair.shown() == ["a": .text("3"), "b": .text("2")])
        #expect(pair.shown(0, new) == ["a": .null])
        _ = try write([(Pair.key, nil), (new, ["a": .text("x")]), (new, ["b": .text("y")])], to: &pair)
        try pair.sync()
        #expect(pair.shown() == nil)
        #expect(pair.shown(0, new) == ["a": .text("x"), "b": .text("y")])
    }

    @Test func aWriteThatChangesNothingHasNoEntry() throws {
        var pair = Pair(devices: 1)
        _ = try write([(Pair.key, ["a": .text("1")])], to: &pair)
        #expect(try write([(Pair.key, ["a": .text("1")])], to: &pair) == nil)
        #expect(try write([(RowKey("note", own), nil)], to: &pair) == nil)
        #expect(pair.space.history.head.number == 1)
    }

    @Test func rightsOfDevicesDoNotBindTheServer() throws {
        var pair = Pair(devices: 1)
        pair.server = SpaceServer(ConflictPolicies()) { sender, _ in sender.device != Identifier(high: 9, low: 9) }
        pair.now += 1_000_000
        try pair.write(["a": .text("1")])
        try pair.sync()
        pair.now -= 2_000_000
        #expect(try write([(Pair.key, ["a": .text("2")])], to: &pair)?.verdict == .applied(2))
        #expect(pair.space.row(Pair.key).values == ["a": .text("2")])
    }

    @Test func tooManyRowsThrow() throws {
        var pair = Pair(devices: 1)
        let rows = (0...5_000).map { index -> (key: RowKey, values: Columns<SyncValue>?) in
            (RowKey("note", Identifier(high: 3, low: UInt64(index))), ["a": .null])
        }
        #expect(throws: TransactionTooLarge.self) { try write(rows, to: &pair) }
        #expect(pair.space.history.head.number == 0)
    }

    /// Rule 15.
    @Test func tooOldAppsMustUpdate() throws {
        var pair = Pair(devices: 1)
        pair.server.minimumSchema = 2
        try pair.write(["a": .text("1")])
        try pair.sync()
        #expect(pair.effects == [.upgrade])
        pair.processes[0].schema = 2
        try pair.sync()
        #expect(pair.space.row(Pair.key).values == ["a": .text("1")])
    }

    /// Rule 12.
    @Test func aBackupEndsTheTimeOfAcknowledgedTransactions() throws {
        var pair = Pair(devices: 1)
        for text in ["1", "2"] {
            try pair.write(["a": .text(text)])
            try pair.sync()
        }
        pair.space.history.backup = 1
        _ = try write([(Pair.key, ["a": .text("3")])], to: &pair)
        try pair.sync()
        #expect(pair.files[0].outgoing().map(\.verdict) == [.applied(2)])
    }

    /// Rule 13.
    @Test func aRowThatMovedNamesItsSpace() throws {
        var pair = Pair()
        try pair.write(["a": .text("1")])
        try pair.sync()
        try pair.sync(1)
        let delete = Operation(
            id: Identifier(high: 4, low: 4), action: .delete(Pair.key, life: 2, movedTo: Identifier(high: 8, low: 8)))
        let transaction = Transaction(
            number: 1, previous: nil, time: HybridTime(milliseconds: pair.now),
            basis: pair.space.history.head.basis, operations: [delete])
        _ = try pair.respond(to: .push(Packet(device: Identifier(high: 4, low: 1), transactions: [transaction])))
        try pair.sync(1)
        #expect(pair.effects == [.moved(Pair.key, to: Identifier(high: 8, low: 8))])
        #expect(pair.shown(1) == nil)
    }
}

/// Rule 15.
struct DigestTests {
    /// The example was computed from the description in docs/formats.md by another program.
    @Test func digestsHaveTheBytesOfTheDescription() {
        var digest = Digest()
        let stamp = Stamp(number: 1, time: .zero, operation: Pair.key.id, device: Pair.key.id)
        let cells: Columns<Cell> = [
            "a": Cell(.text("é"), stamp), "b": Cell(.real(-0.0), stamp), "c": Cell(.bytes([1, 2]), stamp),
            "d": Cell(.integer(-1), stamp), "e": Cell(.null, stamp),
        ]
        digest.replace(Pair.key, .absent, by: Row(life: 1, number: 1, columns: cells))
        #expect(digest.sum == 0xA327483F379530EA as UInt64)
    }

    @Test func theOrderOfChangesDoesNotMatter() {
        var random = SeededRandom(seed: 4)
        var digests = (Digest(), Digest())
        var rows: [(RowKey, Row)] = []
        for index in 0..<50 as Range<UInt64> {
            rows.append((RowKey("t", Identifier(high: 1, low: index)), Row(life: 2, number: 1, columns: [:])))
        }
        for (key, row) in rows { digests.0.replace(key, .absent, by: row) }
        for (key, row) in rows.shuffled(using: &random) { digests.1.replace(key, .absent, by: row) }
        #expect(digests.0 == digests.1 && digests.0 != Digest())
        for (key, row) in rows { digests.0.replace(key, row, by: .absent) }
        #expect(digests.0 == Digest())
    }

    @Test func falseDigestsAreReported() throws {
        var pair = Pair(devices: 1)
        try pair.write(["a": .text("1")])
        try pair.sync()
        #expect(pair.effects.isEmpty)
        pair.space.history.digest.replace(Pair.key, .absent, by: Row(life: 2, number: 1, columns: [:]))
        try pair.sync()
        #expect(pair.effects.allSatisfy { $0 == .differs } && !pair.effects.isEmpty)
        #expect(pair.shown() == ["a": .text("1")])
    }
}
