import RunwaySyncCore
import RunwaySyncSimulator
import Testing

/// What one device can store at the server stays readable for all.
struct ServerBoundsTests {
    private let device = Identifier(high: 2, low: 0)
    private let epoch = Identifier(high: 1, low: 1)

    /// The device from which ``push(_:from:basis:acknowledged:to:)`` pushes if no other one is named.
    private let author = Identifier(high: 3, low: 0)

    private func id(_ number: UInt64) -> Identifier { Identifier(high: 9, low: number) }

    private func key(_ number: UInt64, table: String = "note") -> RowKey {
        RowKey(table, Identifier(high: 0, low: number))
    }

    /// Pushes one transaction with each action, under the numbers from 1, by a device that is new.
    private func push(
        _ actions: Operation.Action..., from device: UInt64 = 0, basis: Int64 = 0, acknowledged: Bool = false,
        to pair: inout Pair
    ) throws -> SyncResponse {
        func id(_ index: Int) -> Identifier { Identifier(high: 100 + device, low: UInt64(index)) }
        let transactions = actions.enumerated().map { index, action in
            var transaction = Transaction(
                number: Int64(index) + 1, previous: index > 0 ? id(index) : nil, time: HybridTime(milliseconds: 1),
                basis: Basis(epoch: epoch, number: basis), operations: [Operation(id: id(index + 1), action: action)])
            transaction.wasAcknowledged = acknowledged
            return transaction
        }
        return try pair.respond(
            to: .push(Packet(device: Identifier(high: 3, low: device), transactions: transactions)))
    }

    private func verdicts(_ response: SyncResponse) -> [Verdict] {
        if case .verdicts(let verdicts, _) = response { verdicts } else { [] }
    }

    /// Rule 11.
    @Test func snapshotsGoOnAfterLargeRows() throws {
        var pair = Pair()
        let large = SyncValue.text(String(repeating: "x", count: 1_200_000))
        for number in UInt64(1)...5 {
            let cell = Cell(
                number.isMultiple(of: 2) ? .null : large,
                Stamp(number: 0, time: .zero, operation: id(number), device: device))
            pair.space.setRow(key(number), Row(life: 1, number: 0, columns: ["a": cell]))
        }
        var (keys, start, isLast) = ([RowKey](), Cursor?.none, false)
        while !isLast, keys.count < 10 {
            let request = SnapshotRequest(device: device, start: start, after: keys.last, pending: [])
            guard case .snapshot(let page) = try pair.respond(to: .snapshot(request)) else { break }
            keys += page.rows.map(\.key)
            (start, isLast) = (page.start, page.isLast)
        }
        #expect(keys == (1...5).map { key($0) })
    }

    /// Rules 3 and 6.
    @Test func rowsThatNobodyCouldReadAreRefused() throws {
        var pair = Pair()
        func update(_ text: String, _ columns: Range<Int>) -> Operation.Action {
            .update(key(1), life: 1, Columns(columns.map { ("\(text)\($0)", .null) }))
        }
        let large = SyncValue.text(String(repeating: "x", count: 3 << 20))
        let response = try push(
            .insert(key(1), life: 1, ["a": large]), update("b", 0..<1_001), update("c", 0..<1_001),
            .update(key(1), life: 1, ["d": large]), .delete(key(1), life: 2), to: &pair)
        #expect(
            verdicts(response) == [
                .applied(1), .applied(2), .refused(.tooLarge, head: 2), .refused(.tooLarge, head: 2), .applied(3),
            ])
        try pair.sync(1)
        #expect(pair.files[1].state.cursor.number == 3)
    }

    /// Rule 12.
    @Test func operationsThatWaitAreBounded() throws {
        var pair = Pair()
        let large = SyncValue.text(String(repeating: "x", count: 3 << 20))
        let response = try push(
            .update(key(1), life: 1, ["a": large]), .update(key(1), life: 1, ["b": large]), acknowledged: true,
            to: &pair)
        #expect(verdicts(response) == [.applied(1), .refused(.tooLarge, head: 1)])
        // What waits can't prevent that the row comes back.
        let insert = Operation.Action.insert(key(1), life: 1, ["c": large])
        #expect(verdicts(try push(insert, from: 1, to: &pair)) == [.applied(2)])
        #expect(pair.space.row(key(1)).values == ["c": large])
        #expect(pair.space.waiting(beside: key(1)).isEmpty)
    }

    /// Rule 14.
    @Test func batchesThatNobodyCouldReadAreRefused() throws {
        var pair = Pair()
        let stamp = Stamp(number: 0, time: .zero, operation: device, device: device)
        for number in UInt64(1)...10_000 {
            pair.space.setRow(key(number), Row(life: 1, number: 0, columns: ["a": Cell(.null, stamp)]))
        }
        func batch(_ count: Int) -> Operation.Action {
            .batch(BatchUpdate(table: "note", where: [], set: ["a": .text(String(repeating: "\u{1}", count: count))]))
        }
        // The entry has 32 MiB, 36 MiB in JSON, and less.
        let response = try push(batch(3_500), batch(600), batch(100), to: &pair)
        #expect(verdicts(response) == [.refused(.tooLarge, head: 0), .refused(.tooLarge, head: 0), .applied(1)])
        #expect(try push(batch(5 << 20), from: 1, to: &pair) == .invalid)
    }

    /// Rule 6.
    @Test func livesStayFarBelowTheLargestNumber() throws {
        var pair = Pair()
        #expect(try push(.delete(key(1), life: 1 << 53), to: &pair) == .invalid)
        #expect(try push(.insert(key(1), life: 1 << 40 + 1, [:]), to: &pair) == .invalid)
        #expect(verdicts(try push(.delete(key(1), life: 1 << 40), to: &pair)) == [.applied(1)])
    }

    /// Rule 7.
    @Test func aCopyHasNoCopy() throws {
        var pair = Pair()
        pair.server = SpaceServer(ConflictPolicies(["note": .keepBoth]))
        // Another device inserts the row, and the rows that the copies of its row would have as their keys.
        let copy = RowKey("note", .version5(of: Identifier(high: 101, low: 1).bytes + author.bytes, in: key(1).id))
        let second = RowKey("note", .version5(of: Identifier(high: 101, low: 2).bytes + author.bytes, in: copy.id))
        _ = try push(
            .insert(key(1), life: 1, ["a": .null]), .insert(copy, life: 1, ["a": .null]), from: 1, to: &pair)
        let update = Operation.Action.update(key(1), life: 1, ["a": .text("1"), "b": .text("1")])
        #expect(verdicts(try push(update, to: &pair)) == [.conflict(3)])
        #expect(pair.space.rows.keys.sorted() == [key(1), copy].sorted() && !pair.space.rows.keys.contains(second))
        #expect(pair.space.row(copy).columns["b"]?.value == .text("1"))
    }

    /// Rule 13.
    @Test func insertsOfLiveRowsNeedTheirRights() throws {
        var pair = Pair()
        pair.server = SpaceServer(ConflictPolicies()) { sender, action in
            if case .insert = action { true } else { sender.device != Identifier(high: 3, low: 2) }
        }
        _ = try push(.insert(key(1), life: 1, ["a": .text("1")]), from: 1, to: &pair)
        let response = try push(
            .insert(key(1), life: 1, ["a": .text("2")]), .insert(key(1), life: 3, [:]),
            .insert(key(2), life: 1, ["a": .text("2")]), from: 2, to: &pair)
        #expect(
            verdicts(response) == [.refused(.forbidden, head: 1), .refused(.forbidden, head: 1), .applied(2)])
        #expect(pair.space.row(key(1)).values == ["a": .text("1")])
    }

    /// Rule 13.
    @Test func aCopyNeedsItsRight() throws {
        var pair = Pair()
        _ = try push(.insert(key(1), life: 1, ["a": .text("1")]), from: 1, to: &pair)
        pair.server = SpaceServer(ConflictPolicies(["note": .keepBoth])) { _, action in
            if case .update(let key, _, _) = action { key == self.key(1) } else { false }
        }
        let update = Operation.Action.update(key(1), life: 1, ["a": .text("2")])
        #expect(verdicts(try push(update, from: 2, to: &pair)) == [.refused(.forbidden, head: 1)])
        #expect(verdicts(try push(update, from: 3, basis: 1, to: &pair)) == [.applied(2)])
        #expect(pair.space.rows.count == 1)
    }

    /// Rules 12 and 13.
    @Test(arguments: [false, true])
    func operationsThatWaitNeedTheirRights(isClosed: Bool) throws {
        var pair = Pair()
        pair.server.subject = "eve"
        let update = Operation.Action.update(key(1), life: 1, ["c": .text("planted")])
        #expect(verdicts(try push(update, acknowledged: true, to: &pair)) == [.applied(1)])
        #expect(pair.space.waiting(beside: key(1)).map(\.sender) == [Sender(device: author, subject: "eve")])
        pair.server = SpaceServer(ConflictPolicies()) { sender, _ in isClosed || sender.subject == "ada" }
        pair.server.subject = "ada"
        if isClosed { pair.space.close(author) }
        _ = try push(.insert(key(1), life: 1, ["a": .text("own"), "b": .null]), from: 1, to: &pair)
        #expect(pair.space.row(key(1)).values == ["a": .text("own"), "b": .null])
        #expect(pair.space.waiting(beside: key(1)).isEmpty)
    }

    /// Rule 4.
    @Test func largerPacketsAreDivided() throws {
        var pair = Pair()
        func packet(_ count: Int64) -> SyncRequest { .push(Packet(device: device, transactions: voids(1...count))) }
        #expect(try pair.respond(to: packet(501)) == .tooLarge)
        var tables = pair.space
        #expect(try pair.server.handle(packet(501), at: 1, over: &tables).response == .tooLarge)
        #expect(verdicts(try pair.respond(to: packet(500))).count == 500)
    }

    /// Rule 3.
    @Test func refusedTransactionsAreStoredUpToABound() throws {
        var pair = Pair()
        for first in stride(from: Int64(1), through: 1_001, by: 500) {
            let request = SyncRequest.push(Packet(device: device, transactions: voids(first...first + 499)))
            let response = try pair.respond(to: request)
            #expect(verdicts(response) == Array(repeating: .refused(.void, head: 0), count: 500))
            #expect(try pair.respond(to: request) == response)
        }
        let stored = (UInt64(1)...1_500).count { pair.space.verdict(on: id($0)) != nil }
        #expect(stored == 1_000)
    }

    private func voids(_ numbers: ClosedRange<Int64>) -> [Transaction] {
        numbers.map { number in
            Transaction(
                number: number, previous: number > 1 ? id(UInt64(number) - 1) : nil, time: .zero,
                basis: Basis(epoch: epoch, number: 0),
                operations: [Operation(id: id(UInt64(number)), action: .void)])
        }
    }

    /// Rule 9.
    @Test func rowsAreOnlyReadForChangesThatCount() throws {
        var pair = Pair()
        let batch = BatchUpdate(table: "note", where: [], set: ["a": .null])
        func packet(_ count: Int64, number: Int64 = 1) -> SyncRequest {
            let transactions = (number..<number + count).map { number in
                Transaction(
                    number: number, previous: number > 1 ? id(UInt64(number) - 1) : nil, time: .zero,
                    basis: Basis(epoch: epoch, number: 0),
                    operations: [Operation(id: id(UInt64(number)), action: .batch(batch))])
            }
            return .push(Packet(device: device, transactions: transactions))
        }
        #expect(try pair.respond(to: packet(9)) == .tooLarge)
        var tables = CountingTables(pair.space)
        #expect(try pair.server.handle(packet(9), at: 1, over: &tables).response == .tooLarge)
        #expect(try pair.server.handle(packet(1, number: 2), at: 1, over: &tables).response == .gap(ChainEnd()))
        let closed = SpaceServer(ConflictPolicies()) { _, _ in false }
        let refused = SyncResponse.verdicts([.refused(.forbidden, head: 0)], head: 0)
        #expect(try closed.handle(packet(1), at: 1, over: &tables).response == refused)
        #expect(tables.batchCount == 0)
        #expect(
            try pair.server.handle(packet(8, number: 2), at: 1, over: &tables).response
                == .verdicts((1...8).map { .applied($0) }, head: 8))
    }

    /// Rule 12.
    @Test func aBasisCoversOnlyTheLogThatExists() throws {
        var pair = Pair()
        let update = Operation.Action.update(key(1), life: 1, ["a": .text("planted")])
        _ = try push(update, basis: 1 << 53, acknowledged: true, to: &pair)
        pair.now += 1
        let insert = Operation.Action.insert(key(1), life: 1, ["a": .text("own")])
        let transaction = Transaction(
            number: 1, previous: nil, time: HybridTime(milliseconds: pair.now),
            basis: pair.space.history.head.basis, operations: [Operation(id: id(1), action: insert)])
        _ = try pair.respond(to: .push(Packet(device: device, transactions: [transaction])))
        #expect(pair.space.row(key(1)).values == ["a": .text("own")])
    }
}

/// Notes whether the rows of batch updates are loaded.
private struct CountingTables: SpaceTables {
    private var store: MemorySpace
    private let counter = Counter()

    private final class Counter { var batchCount = 0 }

    init(_ store: MemorySpace) { self.store = store }

    var batchCount: Int { counter.batchCount }
    var history: History { store.history }
    func content(for needs: SpaceNeeds) -> SpaceContent {
        counter.batchCount += needs.batches.count
        return store.content(for: needs)
    }
    mutating func save(_ changes: SpaceContent) { store.save(changes) }
}
