import RunwayTesting
import Testing

@testable import Runway

struct BackoffTests {
    @Test func boundsDoubleUpToTheLongest() {
        let backoff = Backoff(base: .seconds(1), longest: .seconds(5))
        #expect([1, 2, 3, 4, .max].map { backoff.bound(after: $0) } == [1, 2, 4, 5, 5].map { .seconds($0) })
    }

    @Test(arguments: [0.0, 0.25, 1.0]) func certainPartIsAlwaysWaited(_ part: Double) {
        var random: any RandomNumberGenerator & Sendable = SeededGenerator(seed: 1)
        let backoff = Backoff(base: .seconds(4), longest: .seconds(4), certainPart: part)
        let waits = (0..<1000).map { _ in backoff.wait(after: 1, using: &random) / .seconds(4) }
        #expect(waits.allSatisfy { (part...1).contains($0) })
        #expect(waits.contains { $0 <= part + (1 - part) * 0.05 } && waits.contains { $0 >= 1 - (1 - part) * 0.05 })
    }

    @Test func eachFailureMovesTheEnd() {
        var random: any RandomNumberGenerator & Sendable = SeededGenerator(seed: 1)
        var backoff = Backoff(base: .seconds(1), longest: .seconds(60), certainPart: 1)
        backoff.fail(at: .seconds(10), using: &random)
        #expect(backoff.end == .seconds(11) && backoff.failures == 1)
        backoff.fail(at: .seconds(20), using: &random)
        #expect(backoff.end == .seconds(22))
        backoff.reset()
        #expect(backoff == Backoff(base: .seconds(1), longest: .seconds(60), certainPart: 1))
    }
}
