import RunwaySyncCore
import RunwaySyncSimulator
import Testing

/// Rules 3, 5, 10, 12, 13 and 19.
struct ExchangeTests {
    /// Rule 10.
    @Test func writesAreSentWithoutAPull() throws {
        var pair = Pair()
        try pair.write(["a": .text("1")])
        // The head of the log is not known yet.
        let pull = try #require(try pair.handle(.wrote))
        #expect(pair.pushes.isEmpty)
        _ = try pair.handle(.lost(exchange: pull.1))
        try pair.sync()
        try pair.write(["a": .text("2")])
        _ = try pair.handle(.wrote)
        #expect(pair.pushes.count == 2)
    }

    /// Rule 10.
    @Test func writesPullALogThatHasGrown() throws {
        var pair = Pair()
        try pair.write(["a": .text("1")])
        try pair.sync()
        try pair.write(["a": .text("2")])
        let push = try #require(try pair.handle(.wrote))
        let pull = try #require(try pair.handle(.received(try pair.respond(to: push.0), exchange: push.1)))
        // The page is lost, so that the cursor stays behind the known head.
        _ = try pair.handle(.lost(exchange: pull.1))
        try pair.write(["a": .text("3")])
        _ = try pair.handle(.wrote)
        #expect(pair.pushes.count == 2 && pair.pulls(of: 0).count == 4)
    }

    @Test func twoDevicesBecomeEqual() throws {
        var pair = Pair()
        try pair.write(["a": .text("1"), "b": .text("1")])
        try pair.sync()
        try pair.sync(1)
        try pair.write(["b": .text("2")], on: 1)
        try pair.write(["a": .text("3")])
        for device in [0, 1, 0] { try pair.sync(device) }
        #expect(pair.shown(0) == ["a": .text("3"), "b": .text("2")] && pair.shown(0) == pair.shown(1))
        #expect(pair.files.map(\.state.cursor.number) == [3, 3])
    }

    /// Rule 5.
    @Test func ownWritesStayOnTopOfThePage() throws {
        var pair = Pair()
        try pair.write(["a": .text("1")])
        try pair.sync()
        try pair.sync(1)
        try pair.write(["a": .text("other")])
        try pair.sync()
        try pair.write(["a": .text("own")], on: 1)
        let pull = try #require(try pair.handle(.prompted, on: 1))
        _ = try pair.handle(.received(try pair.respond(to: pull.0), exchange: pull.1), on: 1)
        #expect(pair.shown(1) == ["a": .text("own")])
    }

    /// Rule 10.
    @Test func nothingIsPulledIfTheHeadIsKnown() throws {
        var pair = Pair()
        try pair.write(["a": .text("1")])
        try pair.sync()
        #expect(try pair.handle(.poked(head: 1)) == nil)
        #expect(try pair.handle(.poked(head: 2)) != nil)
    }

    /// Rule 10.
    @Test func aPokeDuringAPullIsRemembered() throws {
        var pair = Pair()
        let pull = try #require(try pair.handle(.prompted))
        let page = try pair.respond(to: pull.0)
        #expect(try pair.handle(.poked(head: 1)) == nil)
        #expect(try pair.handle(.received(page, exchange: pull.1)) != nil)
    }

    @Test func responsesToEarlierRequestsAreIgnored() throws {
        var pair = Pair()
        let (request, exchange) = try #require(try pair.handle(.prompted))
        _ = try pair.handle(.lost(exchange: exchange))
        #expect(try pair.handle(.received(.forked, exchange: exchange)) == nil)
        #expect(try pair.handle(.received(try pair.respond(to: request), exchange: exchange + 5)) == nil)
    }

    /// Rule 3.
    @Test func refusedTransactionsAreReportedOnce() throws {
        var pair = Pair()
        pair.server = SpaceServer(ConflictPolicies()) { _, _ in false }
        try pair.write(["a": .text("1")])
        try pair.sync()
        #expect(pair.shown() == nil && pair.effects.count == 1)
        try pair.sync()
        #expect(pair.effects.count == 1)
    }

    /// Rule 3.
    @Test func anEntrySettlesWhatItsDeviceSentBefore() throws {
        var pair = Pair()
        pair.server = SpaceServer(ConflictPolicies()) { _, action in
            if case .insert(let key, _, _) = action { key != Pair.key } else { true }
        }
        try pair.write(["a": .text("refused")])
        try pair.write(["a": .text("applied")], RowKey("note", Identifier(high: 0, low: 2)))
        let pull = try #require(try pair.handle(.prompted))
        let push = try #require(try pair.handle(.received(try pair.respond(to: pull.0), exchange: pull.1)))
        _ = try pair.respond(to: push.0)
        _ = try pair.handle(.lost(exchange: push.1))
        let second = try #require(try pair.handle(.prompted))
        _ = try pair.handle(.received(try pair.respond(to: second.0), exchange: second.1))
        // The log has the second one only; the refusal comes with the repetition.
        #expect(pair.shown() == nil && pair.effects.isEmpty)
    }

    /// Rule 12.
    @Test func renumberingLeavesOperationsAsTheyAre() throws {
        var pair = Pair()
        try pair.write(["a": .text("1")])
        try pair.sync()
        try pair.write(["a": .text("2")])
        try pair.seal()
        let before = pair.files[0].outgoing()[1]
        let device = pair.files[0].state.device
        _ = try pair.handle(.wasCopied)
        let after = pair.files[0].outgoing()[1]
        #expect(pair.files[0].state.device != device && after.transaction.number == 1)
        #expect(after.transaction.operations == before.transaction.operations)
        #expect(
            after.transaction.time == before.transaction.time && after.transaction.basis == before.transaction.basis)
    }

    /// Rule 13.
    @Test func evictedRowsGoAndUnsentOnesAreRefused() throws {
        var pair = Pair()
        try pair.write(["a": .text("1")])
        try pair.sync()
        try pair.write(["a": .text("2")])
        pair.space.close(pair.files[0].state.device)
        try pair.sync()
        #expect(pair.files[0].shownRows.isEmpty && pair.files[0].state.isRevoked)
        #expect(pair.effects.map { if case .refused(_, .revoked) = $0 { true } else { false } } == [true])
        #expect(try pair.handle(.prompted) == nil)
    }

    /// Two processes have an engine on one file (rule 13).
    @Test func aLatePageBringsNoEvictedRowsBack() throws {
        var pair = Pair()
        try pair.write(["a": .text("1")], on: 1)
        try pair.sync(1)
        let (pull, exchange) = try #require(try pair.handle(.prompted))
        let page = try pair.respond(to: pull)
        pair.space.close(pair.files[0].state.device)
        var other = SyncDevice(ConflictPolicies())
        for event in [SyncDevice.Event.prompted, .received(try pair.respond(to: pull), exchange: 1)] {
            _ = try other.handle(event, at: pair.now, in: &pair.files[0], using: &pair.random)
        }
        _ = try pair.handle(.received(page, exchange: exchange))
        #expect(pair.files[0].shownRows.isEmpty && pair.files[0].state.isRevoked)
    }

    /// Rule 19.
    @Test func aWithdrawnTransactionDoesNotBlockItsSuccessor() throws {
        var pair = Pair()
        try pair.write(["a": .text("1")])
        try pair.seal()
        try pair.write(["a": .text("1")], RowKey("note", Identifier(high: 0, low: 2)))
        try pair.seal()
        _ = try pair.handle(.withdrew(pair.files[0].outgoing()[0].transaction.id))
        #expect(pair.shown() == nil)
        _ = try pair.handle(.lost(exchange: 1))
        try pair.sync()
        #expect(pair.effects.map { if case .refused(_, .void) = $0 { true } else { false } } == [true])
        #expect(pair.space.history.head.number == 1)
    }

    /// Rule 19.
    @Test func aVoidFindsOutWhatHadArrived() throws {
        var pair = Pair()
        try pair.write(["a": .text("1")])
        let pull = try #require(try pair.handle(.prompted))
        let push = try #require(try pair.handle(.received(try pair.respond(to: pull.0), exchange: pull.1)))
        _ = try pair.respond(to: push.0)
        _ = try pair.handle(.lost(exchange: push.1))
        _ = try pair.handle(.withdrew(pair.files[0].outgoing()[0].transaction.id))
        _ = try pair.handle(.lost(exchange: push.1 + 1))
        try pair.sync()
        #expect(pair.shown() == ["a": .text("1")] && pair.effects.isEmpty)
    }

    /// Rule 15.
    @Test func rowsThatDifferAreReadAgain() throws {
        var pair = Pair()
        try pair.write(["a": .text("1")])
        for device in [0, 1] { try pair.sync(device) }
        pair.files[1].setRow(Pair.key, .absent)
        try pair.write(["b": .text("2")])
        for device in [0, 1] { try pair.sync(device) }
        #expect(pair.effects == [.differs] && pair.shown(1) != pair.shown(0))
        var sent = try pair.handle(.reread, on: 1)
        while let (request, exchange) = sent {
            sent = try pair.handle(.received(try pair.respond(to: request), exchange: exchange), on: 1)
        }
        #expect(pair.effects == [.differs] && pair.shown(1) == pair.shown(0))
        // Reading all rows again does not hide that they differed.
        try pair.files[1].reload()
        #expect(pair.files[1].state.mismatchCount == 1 && pair.files[1].state.lastMismatch != nil)
        #expect(pair.files[0].state.mismatchCount == 0)
    }

    @Test(arguments: [Int64(-5), .max])
    func pausesAreBounded(milliseconds: Int64) throws {
        var pair = Pair()
        let (_, exchange) = try #require(try pair.handle(.prompted))
        _ = try pair.handle(.received(.wait(milliseconds: milliseconds), exchange: exchange))
        #expect(pair.effects == [.pause(milliseconds: milliseconds < 0 ? 0 : 3_600_000)])
    }

    @Test func pagesOutOfOrderAreNotApplied() throws {
        var pair = Pair()
        try pair.write(["a": .text("1")])
        try pair.write(["a": .text("2")])
        try pair.sync()
        let (request, exchange) = try #require(try pair.handle(.prompted, on: 1))
        guard case .page(let page) = try pair.respond(to: request) else { return #expect(Bool(false)) }
        let turned = LogPage(parts: page.parts.reversed(), head: page.head, end: page.end, epoch: page.epoch)
        #expect(try pair.handle(.received(.page(turned), exchange: exchange), on: 1) == nil)
        #expect(pair.files[1].state.cursor.number == 0 && pair.files[1].shownRows.isEmpty)
        try pair.sync(1)
        #expect(pair.shown(1) == ["a": .text("2")])
    }

    @Test func aHeadWithoutEntriesEndsTheCycle() throws {
        var pair = Pair()
        let (_, exchange) = try #require(try pair.handle(.prompted))
        let page = LogPage(parts: [], head: 9, end: ChainEnd(), epoch: pair.space.history.epoch)
        #expect(try pair.handle(.received(.page(page), exchange: exchange)) == nil)
    }

    @Test func packetsAndPagesAreBoundedInBytes() throws {
        var pair = Pair()
        let text = SyncValue.text(String(repeating: "x", count: 600_000))
        for row in 0..<4 { try pair.write(["a": text], RowKey("note", Identifier(high: 0, low: UInt64(row)))) }
        try pair.sync()
        try pair.sync(1)
        #expect(pair.pushes.map(\.transactions.count) == [1, 1, 1, 1])
        #expect(pair.pulls(of: 1).count == 2 && pair.files[1].shownRows.count == 4)
    }

    @Test(arguments: [false, true])
    func noPageIsLargeWhateverTheSpace(isSnapshot: Bool) throws {
        var pair = Pair()
        pair.server.pageLimit = 1_000
        let text = SyncValue.text(String(repeating: "x", count: 300_000))
        for row: UInt64 in 0..<40 {
            try pair.write(["a": text], RowKey("note", Identifier(high: 0, low: row)))
            try pair.sync()
        }
        if isSnapshot { pair.space.trim(to: 39) }
        var (sizes, sent) = ([Int](), try pair.handle(.prompted, on: 1))
        while let (request, exchange) = sent {
            let response = try pair.respond(to: request)
            sizes.append(response.wire.body.count)
            sent = try pair.handle(.received(response, exchange: exchange), on: 1)
        }
        #expect(pair.files[1].shownRows.count == 40 && sizes.count >= 10)
        // A mebibyte, and the row that exceeds it.
        #expect(sizes.max() ?? 0 < 1_400_000)
    }

    /// Rules 11 and 12: the rows of a snapshot may be newer than its start.
    @Test(arguments: [false, true])
    func snapshotsBeginAgainAfterARestore(isGrown: Bool) throws {
        var pair = Pair()
        pair.server.pageLimit = 1
        let keys = (1...3).map { RowKey("note", Identifier(high: 0, low: $0)) }
        for key in keys { try pair.write(["a": .text("1")], key) }
        try pair.sync()
        let backup = pair.space
        pair.space.trim(to: 2)
        var (request, exchange) = try #require(try pair.handle(.prompted, on: 1))
        (request, exchange) = try #require(
            try pair.handle(.received(try pair.respond(to: request), exchange: exchange), on: 1))
        (request, exchange) = try #require(
            try pair.handle(.received(try pair.respond(to: request), exchange: exchange), on: 1))
        // The second page has a change that the restored server loses.
        try pair.write(["a": .text("lost")], keys[1])
        try pair.sync()
        (request, exchange) = try #require(
            try pair.handle(.received(try pair.respond(to: request), exchange: exchange), on: 1))
        pair.space = backup
        pair.files[0] = MemoryDeviceStore(device: Identifier(high: 2, low: 9))
        if isGrown {
            try pair.write(["a": .text("2")], keys[2])
            try pair.sync()
        }
        var sent: (SyncRequest, Int64)? = (request, exchange)
        while let (request, exchange) = sent {
            sent = try pair.handle(.received(try pair.respond(to: request), exchange: exchange), on: 1)
        }
        #expect(pair.shown(1, keys[1]) == ["a": .text("1")] && !pair.effects.contains(.differs))
        #expect(pair.files[1].rows == pair.space.rows)
    }

    /// Rule 12: numbers of a lost history say nothing about a backup of the next one.
    @Test func aRestoredFileKeepsWhatTheBackupLacks() throws {
        var pair = Pair()
        var backup = pair.space
        try pair.write(["a": .text("1")])
        try pair.sync()
        let file = pair.files[0]
        pair.space = backup
        try pair.write(["a": .text("2")], RowKey("note", Identifier(high: 0, low: 2)), on: 1)
        try pair.sync(1)
        pair.space.history.backup = 1
        backup = pair.space
        // The entry is the second one now, and the first one in the file.
        try pair.sync()
        #expect(pair.space.history.head.number == 2)
        pair.files[0] = file
        try pair.sync()
        #expect(pair.files[0].outgoing().count == 1)
        pair.space = backup
        for device in [0, 1] { try pair.sync(device) }
        #expect(pair.shown(0) == ["a": .text("1")] && pair.shown(1) == pair.shown(0))
        // A backup of the next history that has the entry lets it go.
        pair.space.history.backup = 2
        try pair.sync()
        #expect(pair.files[0].outgoing().isEmpty)
    }

    /// Rule 9.
    @Test func partsOfTwoHistoriesAreNotCombined() throws {
        var pair = Pair()
        let backup = pair.space
        let other = RowKey("note", Identifier(high: 0, low: 2))
        pair.server.pageLimit = 1
        try pair.files[0].write([(Pair.key, ["a": .text("lost")]), (other, ["a": .text("lost")])], at: pair.now)
        try pair.sync()
        let (request, exchange) = try #require(try pair.handle(.prompted, on: 1))
        _ = try pair.handle(.received(try pair.respond(to: request), exchange: exchange), on: 1)
        #expect(pair.files[1].state.parts.count == 1)
        pair.space = backup
        _ = try pair.handle(.lost(exchange: exchange + 1), on: 1)
        try pair.files[1].write([(Pair.key, ["a": .text("new")]), (other, ["a": .text("new")])], at: pair.now)
        for device in [1, 0, 1, 0, 1] { try pair.sync(device) }
        #expect(pair.files[0].shownRows == pair.files[1].shownRows && pair.files[1].shownRows.count == 2)
    }

    @Test(arguments: [SyncResponse.tooLarge, .invalid, .forked, .verdicts([.applied(1)], head: 1)])
    func responsesToAnotherKindAreIgnored(_ response: SyncResponse) throws {
        var pair = Pair()
        try pair.write(["a": .text("1")])
        let (_, exchange) = try #require(try pair.handle(.prompted))
        #expect(try pair.handle(.received(response, exchange: exchange)) == nil)
        #expect(pair.files[0].outgoing().map(\.status) == [.waiting] && pair.shown() == ["a": .text("1")])
        try pair.sync()
        #expect(pair.space.history.head.number == 1)
    }

    @Test func verdictsOfAnotherCountAreIgnored() throws {
        var pair = Pair()
        try pair.write(["a": .text("1")])
        let pull = try #require(try pair.handle(.prompted))
        let push = try #require(try pair.handle(.received(try pair.respond(to: pull.0), exchange: pull.1)))
        let verdicts = SyncResponse.verdicts([.applied(1), .applied(2)], head: 2)
        _ = try pair.handle(.received(verdicts, exchange: push.1))
        #expect(pair.files[0].outgoing().map(\.status) == [.waiting])
    }

    /// Two processes have an engine on one file.
    @Test(arguments: [false, true])
    func responsesToAnEarlierPacketAreNotRecorded(isVerdict: Bool) throws {
        var pair = Pair()
        try pair.write(["a": .text("1")])
        let (pull, exchange) = try #require(try pair.handle(.prompted))
        let push = try #require(try pair.handle(.received(try pair.respond(to: pull), exchange: exchange)))
        let response = try pair.respond(to: push.0)
        var other = SyncDevice(ConflictPolicies())
        for event in [SyncDevice.Event.prompted, .received(try pair.respond(to: pull), exchange: 1)] {
            _ = try other.handle(event, at: pair.now, in: &pair.files[0], using: &pair.random)
        }
        _ = try other.handle(.received(response, exchange: 2), at: pair.now, in: &pair.files[0], using: &pair.random)
        try pair.write(["a": .text("2")])
        let late = try #require(
            try pair.handle(.received(isVerdict ? response : .tooLarge, exchange: push.1)))
        guard case .push(let packet) = late.0 else { return #expect(Bool(false)) }
        #expect(packet.transactions.map(\.isVoid) == [false] && pair.shown() == ["a": .text("2")])
        _ = try pair.handle(.received(try pair.respond(to: late.0), exchange: late.1))
        try pair.sync(1)
        #expect(pair.shown(1) == ["a": .text("2")])
    }
}
