import RunwaySyncSimulator
import Testing

/// Cases in which others lost data, each as the events of a run.
struct CaseTests {
    private func check(_ events: [SimulatedEvent], reaches places: Set<Place> = [], seed: UInt64 = 7) throws {
        let outcome = try Simulation.run(seed: seed, events)
        #expect(outcome.failure == nil)
        #expect(outcome.places.isSuperset(of: places), "\(places.subtracting(outcome.places))")
    }

    /// A write of a device into a row of the first table; a deletion without columns.
    private func write(_ device: Int, row: Int = 0, _ columns: String = "abn") -> SimulatedEvent {
        .write(device, [.init(table: 0, row: row, columns: columns.map(String.init))])
    }

    @Test func aFailedUploadResumesWithoutANewWrite() throws {
        try check([.link(0, .up), write(0), .pass(20_000)])
    }

    @Test func partitionAndKillDoNotBlock() throws {
        try check([
            .link(0, .down), write(0), .pass(300), .crash(0, .now), .pass(9_000), write(1), .crash(0, .beforeCommit),
        ])
    }

    @Test func aTransientErrorDropsNothing() throws {
        try check([.fail(0, count: 5, .wait), write(0), .pass(4_000), write(0, "a")], reaches: [.wait])
    }

    @Test func aLostResponseIsARepetition() throws {
        let start = [write(0), .pass(9_000), .link(0, .down), write(0, "a")]
        try check(
            start + [.pass(20_000), .link(0, .clear), .pass(9_000)], reaches: [.lostResponse, .repetition])
    }

    @Test func aChangeDuringAnUploadArrives() throws {
        try check([write(0), .pass(60), write(0, "a"), .pass(5), write(0, "b")])
    }

    @Test func ownWritesNeverRevertOnTheScreen() throws {
        try check([
            write(0), .pass(9_000), .link(0, .up), write(0, "a"), write(1, "a"), .pass(9_000), write(1, "ab"),
            .link(0, .down), .pass(2_000), write(0, "b"), .pass(9_000), .link(0, .clear), write(1, "a"),
        ])
    }

    @Test func returnedCreatesAreNoOtherRows() throws {
        // The verdict is lost, and the entry comes first.
        try check([
            .link(0, .down), write(0), .pass(300), .link(0, .clear), .crash(0, .now), .pass(20), write(1, row: 1),
        ])
    }

    @Test func aCrashLeavesNoWriteWithoutItsCapture() throws {
        try check([.crash(0, .beforeCommit), write(0), .crash(0, .afterCommit), write(0, "a"), .crash(0, .now)])
    }

    /// Rule 15.
    @Test func oldAppsStoreWhatTheyDoNotKnow() throws {
        try check(
            [.update(1), write(1, "acn"), .pass(9_000), write(0, "a"), .requireUpdate, write(0, "b"), .pass(9_000)],
            reaches: [.unknownColumn, .upgrade])
    }

    /// Rule 21.
    @Test func theServerWritesBetweenTheWritesOfDevices() throws {
        let rows = [SimulatedEvent.RowWrite(table: 0, row: 0, columns: ["a", "b"])]
        try check([
            write(0), .pass(9_000), .link(0, .up), write(0, "a"), .serverWrite(rows), .pass(9_000), .link(0, .clear),
        ])
    }

    @Test func deleteThenInsertMakesANewLife() throws {
        try check([
            write(0), .pass(9_000), write(0, ""), write(0), write(1, "a"), .pass(9_000), write(1, ""), write(0, "b"),
        ])
    }

    @Test func aRestoredFileForks() throws {
        let start = [write(0), .pass(9_000), .save(0), write(0, "a"), .pass(9_000), write(0, "b"), .pass(9_000)]
        try check(start + [.restore(0), write(0, "n"), .pass(9_000)])
    }

    @Test(arguments: [false, true])
    func clonedFilesBothArrive(isNoticed: Bool) throws {
        try check([
            write(0), .pass(9_000), write(0, "a"), .clone(0, isNoticed: isNoticed), write(0, "b"), write(3, "n"),
        ])
    }

    @Test(arguments: [false, true])
    func aRestoredServerGetsBackWhatItLost(isAnnounced: Bool) throws {
        let start = [write(0), .pass(9_000), .backUp, write(1, "a"), write(2, row: 1), .pass(9_000)]
        try check(
            start + [.restoreServer(isAnnounced: isAnnounced), write(0, "b"), .pass(9_000)],
            reaches: [.history, .snapshot, isAnnounced ? .announcedRestore : .restore])
    }

    @Test func aDeviceADayAheadLosesToNobody() throws {
        try check(
            [.clock(0, 86_400_000), write(0), .pass(9_000), write(1, "a"), .pass(9_000), write(0, "a")],
            reaches: [.clamped])
    }

    @Test func aDeviceIsRevokedAndReadmitted() throws {
        let start = [write(0), write(1), .pass(9_000), .link(1, .up), write(1, "a"), .pass(9_000), .revoke(1)]
        try check(
            start + [.link(1, .clear), .pass(9_000), .readmit(1), .pass(9_000), write(1, "b")], reaches: [.revoked])
    }

    @Test func aDeviceBeyondTheHorizonReadsASnapshot() throws {
        let many = (0..<8).flatMap { [write(1, row: $0 % 4), SimulatedEvent.pass(5_000)] }
        try check(
            [write(0), .pass(9_000), .link(0, .up), write(0, "a")] + many
                + [.trim, .limit(page: 1, packet: 1), .link(0, .clear), .pass(9_000)],
            reaches: [.horizon, .snapshotOfManyPages])
    }

    @Test func aTransactionThatIsUnreadableBlocksNothing() throws {
        try check(
            [.link(0, .up), write(0), write(0, row: 1), .poison(0), write(0, row: 2), .link(0, .clear)],
            reaches: [.unreadable])
    }

    @Test func aRefusedTransactionBlocksNothing() throws {
        try check(
            [.permit(0, table: 0, false), write(0), .pass(9_000), .permit(0, table: 0, true), write(0, row: 1)],
            reaches: [.refused])
    }

    @Test func transactionsLargerThanAPageAreApplied() throws {
        let rows = (0..<4).map { SimulatedEvent.RowWrite(table: 0, row: $0, columns: ["a"]) }
        try check([.limit(page: 1, packet: 1), .write(0, rows), .pass(9_000)], reaches: [.splitTransaction])
    }

    @Test func manyUnsentTransactionsOfOneRowArrive() throws {
        try check([write(0), .pass(9_000), .link(0, .up)] + (0..<2_000).map { _ in write(0, "a") })
    }

    @Test func aPacketThatIsTooLargeIsHalved() throws {
        let writes = (0..<7).map { write(0, row: $0 % 4) }
        try check(
            [.link(0, .up)] + writes + [.link(0, .clear), .fail(0, count: 2, .tooLarge), .pass(9_000)],
            reaches: [.tooLarge])
    }
}
