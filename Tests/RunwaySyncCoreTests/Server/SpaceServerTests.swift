import RunwaySyncCore
import RunwaySyncSimulator
import Testing

/// Rules 3, 4, 9, 12 and 14.
struct SpaceServerTests {
    private let device = Identifier(high: 2, low: 0)
    private let epoch = Identifier(high: 1, low: 1)

    private func id(_ number: UInt64) -> Identifier { Identifier(high: 9, low: number) }

    private func transaction(
        _ number: Int64, _ id: UInt64, after previous: UInt64?,
        _ action: Operation.Action = .insert(Pair.key, life: 1, ["a": .null])
    ) -> Transaction {
        Transaction(
            number: number, previous: previous.map(self.id), time: HybridTime(milliseconds: number),
            basis: Basis(epoch: epoch, number: 0), operations: [Operation(id: self.id(id), action: action)])
    }

    private func push(_ transactions: Transaction..., to pair: inout Pair) throws -> SyncResponse {
        try pair.respond(to: .push(Packet(device: device, transactions: transactions)))
    }

    /// Rule 3.
    @Test func repetitionsHaveTheFirstVerdicts() throws {
        var pair = Pair()
        let update = Operation.Action.update(RowKey("note", id(3)), life: 1, ["a": .null])
        let (first, second) = (transaction(1, 1, after: nil), transaction(2, 2, after: 1, update))
        let verdicts = SyncResponse.verdicts([.applied(1), .refused(.absent, head: 1)], head: 1)
        #expect(try push(first, second, to: &pair) == verdicts)
        #expect(try push(first, second, to: &pair) == verdicts)
        // A packet that was halved is a repetition, too.
        #expect(try push(second, to: &pair) == .verdicts([.refused(.absent, head: 1)], head: 1))
        #expect(pair.space.history.head.number == 1)
    }

    /// Rule 4.
    @Test func chainsHaveNoGapsAndNoForks() throws {
        var pair = Pair()
        #expect(try push(transaction(2, 2, after: 1), to: &pair) == .gap(ChainEnd()))
        _ = try push(transaction(1, 1, after: nil), to: &pair)
        _ = try push(transaction(2, 2, after: 1), to: &pair)
        #expect(try push(transaction(1, 1, after: nil), to: &pair) == .forked)
        #expect(try push(transaction(2, 7, after: 1), to: &pair) == .forked)
        #expect(try push(transaction(3, 3, after: 7), to: &pair) == .forked)
        #expect(try push(transaction(4, 4, after: 3), to: &pair) == .gap(ChainEnd(number: 2, operation: id(2))))
    }

    /// Rule 3.
    @Test func oneAbsentOperationRefusesItsTransaction() throws {
        var pair = Pair()
        var both = transaction(1, 1, after: nil)
        both.operations.append(Operation(id: id(2), action: .update(RowKey("note", id(3)), life: 1, ["a": .null])))
        #expect(try push(both, to: &pair) == .verdicts([.refused(.absent, head: 0)], head: 0))
        #expect(pair.space.rows.isEmpty)
    }

    /// Rule 12.
    @Test func knownOperationsAreNotAppliedAgain() throws {
        var pair = Pair()
        _ = try push(transaction(1, 1, after: nil), to: &pair)
        let again = Packet(device: Identifier(high: 2, low: 9), transactions: [transaction(1, 1, after: nil)])
        #expect(try pair.respond(to: .push(again)) == .verdicts([.applied(1)], head: 1))
    }

    /// Rule 10.
    @Test func batchesWithoutRowsTakeANumber() throws {
        var pair = Pair()
        let batch = Operation.Action.batch(BatchUpdate(table: "note", where: [], set: ["a": .null]))
        #expect(try push(transaction(1, 1, after: nil, batch), to: &pair) == .verdicts([.applied(1)], head: 1))
    }

    /// Rule 14.
    @Test func batchesOfTooManyRowsAreRefused() throws {
        var pair = Pair()
        for number in 0...UInt64(10_000) {
            pair.space.setRow(RowKey("note", id(number)), Row(life: 1, number: 0, columns: [:]))
        }
        let batch = Operation.Action.batch(BatchUpdate(table: "note", where: [], set: ["a": .null]))
        let response = try push(transaction(1, 1, after: nil, batch), to: &pair)
        #expect(response == .verdicts([.refused(.tooMany, head: 0)], head: 0))
    }

    @Test func malformedPacketsAreInvalid() throws {
        var pair = Pair()
        let malformed = [
            [], [transaction(0, 1, after: nil)], [transaction(.max, 1, after: nil)],
            [transaction(1, 1, after: nil), transaction(3, 3, after: 1)],
            [transaction(1, 1, after: nil), transaction(2, 2, after: 9)],
            [transaction(1, 1, after: nil, .insert(Pair.key, life: 2, [:]))],
            [transaction(1, 1, after: nil, .delete(Pair.key, life: 1))],
            [transaction(1, 1, after: nil, .update(Pair.key, life: -1, [:]))],
            [transaction(1, 1, after: nil, .insert(Pair.key, life: 1, ["a": .real(.nan)]))],
        ]
        for transactions in malformed {
            #expect(try pair.respond(to: .push(Packet(device: device, transactions: transactions))) == .invalid)
        }
    }

    /// Rule 12.
    @Test func cursorsOfOtherHistoriesAreFound() throws {
        var pair = Pair()
        _ = try push(transaction(1, 1, after: nil), to: &pair)
        let head = pair.space.history.head
        func pull(_ cursor: Cursor) throws -> SyncResponse {
            try pair.respond(to: .pull(PullRequest(device: device, cursor: cursor, offset: 0)))
        }
        for cursor in [
            Cursor(epoch: head.epoch, number: 1, tag: head.tag ^ 1), Cursor(epoch: head.epoch, number: 2, tag: 0),
            Cursor(epoch: id(8), number: 1, tag: head.tag), Cursor(epoch: head.epoch, number: -1, tag: 0),
        ] {
            #expect(try [.history, .horizon].contains(pull(cursor)))
        }
    }

    /// Rule 12.
    @Test func basesOfEarlierEpochsEndAtTheCut() throws {
        var pair = Pair()
        _ = try push(
            transaction(1, 1, after: nil), transaction(2, 2, after: 1, .update(Pair.key, life: 1, ["a": .integer(2)])),
            to: &pair)
        pair.space.history.begin(id(100))
        // A basis of 9 in the former epoch covers 2, the cut, and so the column.
        let late = Transaction(
            number: 1, previous: nil, time: .zero, basis: Basis(epoch: epoch, number: 9),
            operations: [Operation(id: id(5), action: .update(Pair.key, life: 1, ["a": .integer(3)]))])
        let response = try pair.respond(to: .push(Packet(device: id(77), transactions: [late])))
        #expect(response == .verdicts([.applied(3)], head: 3))
    }

    /// Rule 12.
    @Test func resentUpdatesWaitForTheirRow() throws {
        var pair = Pair()
        var update = transaction(1, 3, after: nil, .update(Pair.key, life: 1, ["a": .integer(7)]))
        update.wasAcknowledged = true
        #expect(try push(update, to: &pair) == .verdicts([.applied(1)], head: 1))
        #expect(pair.space.row(Pair.key) == .absent)
        var insert = transaction(1, 2, after: nil)
        insert.wasAcknowledged = true
        _ = try pair.respond(to: .push(Packet(device: id(77), transactions: [insert])))
        #expect(pair.space.row(Pair.key).values == ["a": .integer(7)])
    }
}
