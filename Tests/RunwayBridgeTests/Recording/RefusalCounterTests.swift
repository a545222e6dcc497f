import Testing

@testable import RunwayBridge

struct RefusalCounterTests {
    @Test func countsOfAHostilePageNeverOverflow() {
        var counter = RefusalCounter()
        for _ in 1...3 { _ = counter.add(.busy, count: .max / 2, at: .zero) }
        let (totals, later) = (counter.takeTotals(), counter.takeTotals())
        #expect(totals.map(\.count) == [1_000_000_000])
        #expect(later.isEmpty)
    }

    @Test(arguments: [(1_000_000, true), (1_000_001, false), (0, false), (-1, false)])
    func oneMessageCountsAMillionRefusals(count: Int, isRead: Bool) {
        let text = #"{"document":"a","generation":1,"type":"refused","kind":"busy","count":\#(count)}"#
        #expect((PageMessage(text) != nil) == isRead)
    }
}
