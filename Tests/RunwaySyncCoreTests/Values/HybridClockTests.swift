import RunwaySyncCore
import Testing

/// Rule 8.
struct HybridClockTests {
    @Test func timesIncreaseWhateverTheSystemSays() {
        var clock = HybridClock()
        let times = [5_000, 5_000, 1_000, 6_000].map { clock.tick(at: $0) }
        #expect(times == times.sorted() && Set(times).count == 4)
        #expect(times[3] == HybridTime(milliseconds: 6_000))
    }

    @Test func receivedTimesAreExceeded() {
        var clock = HybridClock()
        clock.receive(HybridTime(milliseconds: 9_000))
        #expect(clock.tick(at: 1) > HybridTime(milliseconds: 9_000))
    }

    @Test func fullCountersCarryIntoMilliseconds() {
        var clock = HybridClock()
        _ = clock.tick(at: 7)
        for _ in 0..<65_536 { _ = clock.tick(at: 7) }
        #expect(clock.last.milliseconds == 8)
    }

    @Test func theYear9999IsClamped() {
        let time = HybridClock.clamp(HybridTime(milliseconds: 253_402_300_799_000), after: .zero, at: 1_000)
        #expect(time == HybridTime(milliseconds: 61_000))
        #expect(HybridTime(milliseconds: .max) > HybridTime(milliseconds: .min))
    }

    @Test func clampedTimesKeepTheirOrder() {
        let first = HybridClock.clamp(HybridTime(milliseconds: 900_000), after: .zero, at: 1_000)
        let second = HybridClock.clamp(HybridTime(milliseconds: 900_001), after: first, at: 1_000)
        #expect(first < second)
    }

    @Test func anOlderTimeIsNotChanged() {
        let time = HybridTime(milliseconds: 500)
        #expect(HybridClock.clamp(time, after: HybridTime(milliseconds: 900), at: 1_000) == time)
    }

    @Test func aTimeWithinAMinuteIsNotChanged() {
        let time = HybridTime(milliseconds: 61_000)
        #expect(HybridClock.clamp(time, after: .zero, at: 1_000) == time)
    }
}
