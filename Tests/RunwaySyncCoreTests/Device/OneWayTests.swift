import RunwaySyncCore
import RunwaySyncSimulator
import Testing

/// Spaces that are only sent (rule 19).
struct OneWayTests {
    private func pair(deadline: Int64? = 5_000) -> Pair {
        var pair = Pair(devices: 1)
        pair.processes[0].direction = .sending(deadline: deadline)
        return pair
    }

    /// Lets a device send a write whose response is lost, or that does not arrive, and waits past the deadline.
    private func fail(_ pair: inout Pair, arrives: Bool) throws {
        try pair.write(["a": .text("1")])
        let (request, exchange) = try #require(try pair.handle(.prompted))
        if arrives { _ = try pair.respond(to: request) }
        _ = try pair.handle(.lost(exchange: exchange))
        pair.now += 6_000
    }

    @Test func rowsStayAsTheAppWroteThem() throws {
        var pair = pair()
        try pair.write(["a": .text("1")])
        try pair.sync()
        #expect(pair.space.row(Pair.key).values == ["a": .text("1")])
        try pair.write(["a": .text("2")])
        try pair.sync()
        #expect(pair.space.row(Pair.key).values == ["a": .text("2")])
        #expect(pair.pulls(of: 0).isEmpty && pair.shown() == ["a": .text("2")])
    }

    @Test func readmittedDevicesSendAgainWhatARestoreLost() throws {
        var pair = pair()
        let backup = pair.space
        try pair.write(["a": .text("1")])
        try pair.sync()
        pair.space = backup
        pair.space.close(pair.files[0].state.device)
        try pair.write(["a": .text("2")])
        try pair.sync()
        #expect(pair.files[0].state.isRevoked)
        var sent = try pair.handle(.readmitted)
        while let (request, exchange) = sent {
            sent = try pair.handle(.received(try pair.respond(to: request), exchange: exchange))
        }
        #expect(pair.space.row(Pair.key).values == ["a": .text("1")])
    }

    @Test func aWriteBeforeItsDeadlineIsSent() throws {
        var pair = pair(deadline: 60_000)
        try fail(&pair, arrives: false)
        try pair.sync()
        #expect(pair.space.row(Pair.key).values == ["a": .text("1")])
    }

    @Test func writesPastTheirDeadlineStayAsFailed() throws {
        var pair = pair()
        try fail(&pair, arrives: false)
        try pair.sync()
        #expect(pair.space.row(Pair.key) == .absent)
        #expect(pair.effects.count == 1 && pair.shown() == ["a": .text("1")])
        guard case .refused(_, .expired) = pair.effects[0] else { return #expect(Bool(false)) }
    }

    @Test func aWriteThatHadArrivedDoesNotFail() throws {
        var pair = pair()
        try fail(&pair, arrives: true)
        try pair.sync()
        #expect(pair.effects.isEmpty)
        #expect(pair.files[0].outgoing().map(\.verdict) == [.applied(1)])
    }

    @Test(arguments: [false, true])
    func sendAgainWaitsForTheVoid(hadArrived: Bool) throws {
        var pair = pair()
        try fail(&pair, arrives: hadArrived)
        let first = try #require(pair.files[0].outgoing().first).transaction.id
        var sent = try pair.handle(.sentAgain(first))
        // Nothing new is made before the verdict.
        #expect(pair.files[0].outgoing().map(\.transaction.id) == [first])
        while let (request, exchange) = sent {
            sent = try pair.handle(.received(try pair.respond(to: request), exchange: exchange))
        }
        #expect(pair.space.history.head.number == 1)
        #expect(pair.space.row(Pair.key).values == ["a": .text("1")])
        #expect((pair.files[0].outgoing().map(\.transaction.id) == [first]) == hadArrived)
        #expect(pair.effects.isEmpty)
    }

    @Test func sendAgainHasWhatTheAppShowsNow() throws {
        var pair = pair()
        try fail(&pair, arrives: false)
        try pair.sync()
        let first = try #require(pair.files[0].outgoing().first).transaction.id
        try pair.write(["a": .text("corrected")])
        try pair.sync()
        _ = try pair.handle(.sentAgain(first)).map { request, exchange in
            try pair.handle(.received(pair.respond(to: request), exchange: exchange))
        }
        #expect(pair.space.row(Pair.key).values == ["a": .text("corrected")])
    }

    @Test func anIdThatIsTakenIsReplaced() throws {
        var pair = Pair(devices: 1)
        try pair.write(["a": .text("1")])
        let former = pair.files[0].state.device
        let (_, exchange) = try #require(try pair.handle(.prompted))
        _ = try pair.handle(.received(.deviceTaken, exchange: exchange))
        #expect(pair.files[0].state.device != former)
        _ = try pair.handle(.lost(exchange: exchange + 1))
        try pair.sync()
        #expect(pair.space.row(Pair.key).values == ["a": .text("1")])
    }
}

/// Inserts behind the horizon (rule 12).
struct OfferingTests {
    /// A device with an unsent insert, and an update of it, from before the horizon, that takes a new id.
    private func offered() throws -> Pair {
        var pair = Pair()
        let other = RowKey("note", Identifier(high: 0, low: 2))
        try pair.write(["a": .text("old")])
        try pair.seal()
        try pair.write(["a": .text("newer")])
        try pair.seal()
        for text in ["1", "2", "3"] {
            try pair.write(["a": .text(text)], other, on: 1)
            try pair.sync(1)
        }
        pair.space.trim(to: 2)
        // The device reads all rows first, so that it knows the horizon.
        var sent = try pair.handle(.prompted)
        while let (request, exchange) = sent, !isPush(request) {
            sent = try pair.handle(.received(try pair.respond(to: request), exchange: exchange))
        }
        sent = try pair.handle(.received(.forked, exchange: try #require(sent).1))
        while let (request, exchange) = sent {
            sent = try pair.handle(.received(try pair.respond(to: request), exchange: exchange))
        }
        return pair
    }

    private func isPush(_ request: SyncRequest) -> Bool { if case .push = request { true } else { false } }

    @Test func oldInsertsWaitForTheUser() throws {
        var pair = try offered()
        try pair.sync()
        #expect(pair.files[0].outgoing().map(\.isOffered) == [true, true])
        #expect(pair.space.row(Pair.key) == .absent && pair.shown() == ["a": .text("newer")])
        // Later writes are not blocked.
        let other = RowKey("note", Identifier(high: 0, low: 3))
        try pair.write(["a": .text("x")], other)
        try pair.sync()
        #expect(pair.space.row(other).values == ["a": .text("x")] && pair.shown() == ["a": .text("newer")])
    }

    @Test func acceptedInsertsAreSentLastAndOnce() throws {
        var pair = try offered()
        try pair.write(["a": .text("x")], RowKey("note", Identifier(high: 0, low: 3)))
        try pair.seal()
        var sent = try pair.handle(.decidedOffers(accepts: true))
        #expect(pair.files[0].outgoing().filter { $0.verdict == nil }.map(\.transaction.number) == [1, 2, 3])
        while let (request, exchange) = sent {
            sent = try pair.handle(.received(try pair.respond(to: request), exchange: exchange))
        }
        #expect(pair.space.row(Pair.key).values == ["a": .text("newer")])
        // A new id does not ask again.
        _ = try pair.handle(.wasCopied)
        #expect(pair.files[0].outgoing().allSatisfy { !$0.isOffered })
    }

    /// An offered insert of a row that another device inserted meanwhile, with a later write of the same device.
    private func offeredAndWritten() throws -> Pair {
        var pair = try offered()
        try pair.write(["a": .text("theirs")], on: 1)
        try pair.sync(1)
        try pair.sync()
        try pair.write(["a": .text("newest")])
        try pair.sync()
        return pair
    }

    @Test func offersNeverHideNewerOwnWrites() throws {
        var pair = try offeredAndWritten()
        #expect(pair.shown() == ["a": .text("newest")])
        #expect(pair.files[0].outgoing().map(\.isOffered) == [true, true, true])
        var sent = try pair.handle(.decidedOffers(accepts: true))
        while let (request, exchange) = sent {
            sent = try pair.handle(.received(try pair.respond(to: request), exchange: exchange))
        }
        #expect(pair.space.row(Pair.key).values == ["a": .text("newest")] && pair.shown() == ["a": .text("newest")])
    }

    @Test func acceptedInsertsNeverHideNewerWritesOfOthers() throws {
        var pair = try offered()
        try pair.write(["a": .text("theirs")], on: 1)
        try pair.sync(1)
        try pair.write(["a": .text("x")], RowKey("note", Identifier(high: 0, low: 3)))
        try pair.sync()
        #expect(pair.shown() == ["a": .text("theirs")])
        // The accepted transactions come after a newer write in the chain.
        var sent = try pair.handle(.decidedOffers(accepts: true))
        while let (request, exchange) = sent {
            #expect(pair.shown() == ["a": .text("theirs")])
            sent = try pair.handle(.received(try pair.respond(to: request), exchange: exchange))
        }
        #expect(pair.space.row(Pair.key).values == ["a": .text("theirs")] && pair.shown() == ["a": .text("theirs")])
    }

    @Test func declinedOffersRefuseLaterWritesOfTheirRows() throws {
        var pair = try offeredAndWritten()
        #expect(try pair.handle(.decidedOffers(accepts: false)) == nil)
        #expect(pair.shown() == ["a": .text("theirs")])
        #expect(pair.effects.count { if case .refused(_, .declined) = $0 { true } else { false } } == 3)
    }

    @Test func declinedInsertsAreRefusedAndShown() throws {
        var pair = try offered()
        #expect(try pair.handle(.decidedOffers(accepts: false)) == nil)
        #expect(pair.shown() == nil)
        #expect(pair.effects.count { if case .refused(_, .declined) = $0 { true } else { false } } == 2)
    }
}
