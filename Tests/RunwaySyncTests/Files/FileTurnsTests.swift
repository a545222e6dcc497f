import RunwaySyncCore
import Testing

@testable import RunwaySync

/// The order of transfers, as values.
struct FileTurnsTests {
    private func lane(_ space: UInt64, isHere: Bool = false) -> FileTurns.Lane {
        FileTurns.Lane(space: Identifier(high: 0, low: space), isHere: isHere)
    }

    @Test func oneSpaceLeavesSlotsForOthers() {
        var (turns, inFlight) = (FileTurns(), [FileTurns.Lane]())
        while let next = turns.next(among: [lane(1)], inFlight: inFlight) { inFlight.append(next) }
        #expect(inFlight == Array(repeating: lane(1), count: 3))
        while let next = turns.next(among: [lane(1), lane(2)], inFlight: inFlight) { inFlight.append(next) }
        #expect(inFlight.dropFirst(3) == [lane(2), lane(2), lane(2)])
        #expect(turns.next(among: [lane(1), lane(2)], inFlight: inFlight) == nil)
    }

    @Test func slotsAreBoundedInAll() {
        let lanes = (UInt64(1)...20).map { lane($0) }
        var (turns, inFlight) = (FileTurns(), [FileTurns.Lane]())
        while let next = turns.next(among: lanes, inFlight: inFlight) { inFlight.append(next) }
        #expect(inFlight.count == 8)
        #expect(Set(inFlight).count == 8)
    }

    @Test func eachLaneHasItsTurn() {
        let lanes = (UInt64(1)...20).flatMap { [lane($0, isHere: true), lane($0)] }
        var turns = FileTurns()
        // Seven slots are held by others for ever.
        let held = (UInt64(101)...107).map { lane($0) }
        let started = (1...40).compactMap { _ in turns.next(among: lanes, inFlight: held) }
        #expect(Set(started) == Set(lanes))
    }

    @Test func lanesWithoutFilesAreForgotten() {
        var turns = FileTurns()
        for space in UInt64(1)...3_000 { _ = turns.next(among: [lane(space)], inFlight: [lane(1)]) }
        #expect(turns.lastStarts.count <= FileTurns.maximumHistoryCount)
        #expect(turns.lastStarts.keys.contains(lane(1)) && turns.lastStarts.keys.contains(lane(3_000)))
    }

    @Test func pausesOfAbsentFilesGrowToADay() {
        let pauses = (0...40).map { FileOutcome.missing.due(after: $0, at: 0) }
        #expect(pauses.prefix(3) == [4_000, 8_000, 16_000])
        #expect(pauses.last == 86_400_000)
        #expect(FileOutcome.failed(.forbidden).due(after: 40, at: 0) == 86_400_000)
        for problem in [SyncProblem.offline, .unavailable, .signedOut] {
            #expect(FileOutcome.failed(problem).due(after: 40, at: 0) == 300_000)
        }
    }
}
