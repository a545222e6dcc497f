import Runway
import RunwayTesting
import Testing

/// The clock that a layer waits by.
@Suite(.timeLimit(.minutes(10)))
struct LayerClockTests {
    @Test func noWaitExceedsTheSystemsLimit() async throws {
        let manual = ManualClock()
        let wait = Task { try await LayerClock(manual).sleep(until: .seconds(Int64.max)) }
        try await manual.waitForSleepers()
        #expect(manual.nextDeadline?.offset == .seconds(3_155_760_000))
        wait.cancel()
        await #expect(throws: CancellationError.self) { try await wait.value }
    }
}
