import RunwaySignatures
import Testing

@testable import RunwayServer

struct FailureLimiterTests {
    private let start = UnixTime(seconds: 1_000)

    @Test func failuresAreMadeGoodByTime() {
        let limiter = FailureLimiter(FailureLimits(burst: 4, perSecond: 2))
        for _ in 0..<10 { limiter.record("a", at: start) }
        #expect(limiter.isExceeded(by: "a", at: start))
        #expect(!limiter.isExceeded(by: "b", at: start))
        #expect(!limiter.isExceeded(by: "a", at: start + .seconds(1)))
        for _ in 0..<2 { limiter.record("a", at: start + .seconds(1)) }
        #expect(limiter.isExceeded(by: "a", at: start + .seconds(1)))
    }

    @Test func clockSetBackMakesFailuresGood() {
        let limiter = FailureLimiter(FailureLimits(burst: 1))
        limiter.record("a", at: start)
        #expect(limiter.isExceeded(by: "a", at: start))
        #expect(!limiter.isExceeded(by: "a", at: start - .seconds(1)))
    }

    @Test func sourcesNeverShareFailures() {
        // One slot for all: each source replaces the one before it.
        let limiter = FailureLimiter(FailureLimits(burst: 2, perSecond: 1, maximumSources: 1))
        for number in 0..<1_000 { limiter.record("source \(number)", at: start) }
        for number in 0..<1_000 { #expect(!limiter.isExceeded(by: "source \(number)", at: start)) }
    }
}
