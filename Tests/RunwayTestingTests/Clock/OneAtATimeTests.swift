import RunwayTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10)))
struct OneAtATimeTests {
    /// How many operations are running, and the most that were at a time.
    private final class Gauge: Sendable {
        let counts = Mutex((now: 0, most: 0))

        func run() async {
            counts.withLock { ($0.now, $0.most) = ($0.now + 1, max($0.most, $0.now + 1)) }
            // Here, all others would begin.
            await Task.yield()
            counts.withLock { $0.now -= 1 }
        }
    }

    @Test func operationsNeverOverlap() async {
        let gauge = Gauge()
        let tasks = (0..<20).map { _ in Task { await oneAtATime(gauge.run) } }
        // A cancelled one waits for its turn, too.
        for task in tasks.prefix(5) { task.cancel() }
        for task in tasks { await task.value }
        #expect(gauge.counts.withLock { $0.most } == 1)
    }

    @Test func errorEndsTheTurn() async {
        struct Failure: Error {}
        await #expect(throws: Failure.self) { try await oneAtATime { throw Failure() } }
        #expect(await oneAtATime { 7 } == 7)
    }
}
