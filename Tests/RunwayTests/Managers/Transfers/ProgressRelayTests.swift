import RunwayTesting
import Testing

@testable import Runway

/// How the progress of a transfer reaches the main actor.
@MainActor
@Suite(.timeLimit(.minutes(10)))
struct ProgressRelayTests {
    @MainActor private final class Log {
        var counts: [Int] = []
    }

    private let clock = ManualClock()
    private let log = Log()
    private let relay: ProgressRelay

    init() {
        relay = ProgressRelay(clock: LayerClock(clock)) { [log] in log.counts.append($0.completedByteCount) }
    }

    private func report(_ count: Int) {
        relay.report(TransferProgress(completedByteCount: count, totalByteCount: nil))
    }

    @Test func newestReportWaitsForItsTurn() async throws {
        report(1)
        try await waitUntil { log.counts == [1] }
        for count in 2...1000 { report(count) }
        try await clock.waitForSleepers()
        #expect(log.counts == [1])
        #expect(clock.nextDeadline?.offset == ProgressRelay.interval && ProgressRelay.interval * 30 >= .seconds(1))
        clock.advance(by: ProgressRelay.interval)
        try await waitUntil { log.counts == [1, 1000] }
        relay.end()
        #expect(log.counts == [1, 1000], "what was delivered is not delivered again")
    }

    @Test func lastReportIsDeliveredAtTheEnd() async throws {
        for count in 1...3 { report(count) }
        relay.end()
        #expect(log.counts == [3])
        report(4)
        relay.end()
        clock.advance(by: .seconds(1))
        for _ in 1...3 { await Task { @MainActor in }.value }
        #expect(log.counts == [3])
        try await waitUntil { clock.sleeperCount == 0 }
    }

    @Test func endWakesAReportThatWaits() async throws {
        report(1)
        try await waitUntil { log.counts == [1] }
        report(2)
        try await clock.waitForSleepers()
        relay.end()
        #expect(log.counts == [1, 2])
        try await waitUntil { clock.sleeperCount == 0 }
    }
}
