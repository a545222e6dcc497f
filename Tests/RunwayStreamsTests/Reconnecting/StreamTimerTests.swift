import Runway
import RunwayTesting
import StreamFixtures
import Testing

@testable import RunwayStreams

/// When the timer of a driver wakes it.
@Suite(.timeLimit(.minutes(5)))
struct StreamTimerTests {
    private let clock = ManualClock()
    private let wakes = AwaitedValue(0)

    private func waitForSleep(until seconds: Int) async throws {
        try await waitUntil("the wait") { clock.nextDeadline?.offset == .seconds(seconds) }
    }

    @Test func deadlineIsAwaitedAgainAfterAnEarlyWake() async throws {
        var timer = StreamTimer(LayerClock(EarlyClock(clock))) { [wakes] in wakes.update { $0 += 1 } }
        timer.wait(for: .seconds(30))
        try await waitForSleep(until: 29)
        clock.advance(by: .seconds(29))
        try await wakes.wait(atLeast: 1, within: .seconds(60), subject: "wakes")
        timer.expire()
        timer.wait(for: .seconds(30))
        try await waitForSleep(until: 30)
        clock.advance(by: .seconds(1))
        try await wakes.wait(atLeast: 2, within: .seconds(60), subject: "wakes")
    }

    @Test func onlyTheLastDeadlineIsAwaited() async throws {
        var timer = StreamTimer(LayerClock(clock)) { [wakes] in wakes.update { $0 += 1 } }
        for seconds in [30, 10] {
            timer.wait(for: .seconds(seconds))
            try await waitForSleep(until: seconds)
        }
        #expect(clock.sleeperCount == 1)
        timer.wait(for: nil)
        #expect(clock.sleeperCount == 0 && wakes.value == 0)
    }
}
