import RunwaySyncCore
import RunwaySyncSimulator
import Testing

/// A device sends only what a server reads.
struct DeviceBoundsTests {
    /// Rule 11.
    @Test func aSnapshotNamesABoundedNumberOfTransactions() throws {
        var pair = Pair(devices: 1)
        func outgoing(_ number: Int64, _ status: Outgoing.Status) -> Outgoing {
            let operation = Operation(id: Identifier(high: 7, low: UInt64(number)), action: .void)
            let transaction = Transaction(
                number: number, previous: nil, time: .zero, basis: Cursor.none.basis, operations: [operation])
            var outgoing = Outgoing(sequence: number, packet: number, transaction: transaction)
            (outgoing.status, outgoing.isSettled) = (status, status != .waiting)
            return outgoing
        }
        let count = Int64(SnapshotRequest.maximumPending)
        pair.files[0].put(outgoing(count + 1, .waiting))
        for number in (1...count).reversed() {
            pair.files[0].put(outgoing(number, .decided(.applied(number), at: .zero)))
        }
        var state = pair.files[0].state
        state.snapshot = .rows(start: nil, head: nil, after: nil, decided: [])
        pair.files[0].setState(state)
        guard case .snapshot(let request)? = try pair.handle(.prompted)?.0 else { throw TestFailure() }
        #expect(request.pending.count == SnapshotRequest.maximumPending)
        // Nothing else can show that the server has decided on what waits.
        #expect(request.pending.first == Identifier(high: 7, low: UInt64(count + 1)))
        #expect(try SyncRequest(SyncRequest.snapshot(request).wire) == .snapshot(request))
        let larger = SnapshotRequest(
            device: request.device, start: nil, after: nil, pending: request.pending + [request.device])
        #expect(throws: WireError.self) { try SyncRequest(SyncRequest.snapshot(larger).wire) }
    }

    /// Rules 1 and 3.
    @Test func whatNoServerAcceptsIsNotSent() throws {
        var pair = Pair(devices: 1)
        let other = RowKey("note", Identifier(high: 0, low: 2))
        try pair.write(["a": .text(String(repeating: "x", count: Transaction.maximumBytes))])
        try pair.write(["a": .text("1")], other)
        try pair.sync()
        #expect(pair.pushes.map { $0.transactions.map(\.isVoid) } == [[true], [false]])
        let refusals = pair.effects.compactMap { if case .refused(_, let refusal) = $0 { refusal } else { nil } }
        #expect(refusals == [.tooLarge])
        // The values are there until the app has dismissed the refusal.
        #expect(pair.files[0].outgoing().first?.transaction.byteCount ?? 0 > Transaction.maximumBytes)
        #expect(pair.shown(0, other) == ["a": .text("1")] && pair.shown() == nil)
    }

    /// Rule 12.
    @Test func aDeviceWaitsIfThereAreTooMany() throws {
        var pair = Pair(devices: 1)
        try pair.write(["a": .text("1")])
        let pull = try #require(try pair.handle(.prompted))
        let push = try #require(
            try pair.handle(.received(try pair.respond(to: pull.0), exchange: pull.1)))
        #expect(try pair.handle(.received(.tooManyDevices, exchange: push.1)) == nil)
        #expect(pair.effects == [.pause(milliseconds: 3_600_000)])
        #expect(pair.shown() == ["a": .text("1")])
        try pair.sync()
        #expect(pair.space.row(Pair.key).values == ["a": .text("1")])
    }

    private struct TestFailure: Error {}
}
