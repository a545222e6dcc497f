import RunwaySyncCore
import RunwaySyncSimulator
import Testing

struct SyncValueTests {
    @Test func integersCompareExactlyWithDoubles() {
        let large = SyncValue.integer(9_007_199_254_740_993)
        #expect(large.compared(to: .real(9_007_199_254_740_992)) == 1)
        #expect(SyncValue.real(9_007_199_254_740_992).compared(to: large) == -1)
        #expect(SyncValue.integer(-1).compared(to: .real(-1.5)) == 1)
        #expect(SyncValue.integer(.max).compared(to: .real(.infinity)) == -1)
        #expect(SyncValue.integer(.min).compared(to: .real(-0x1p63)) == 0)
    }

    @Test func kindsDoNotCompareWithEachOther() {
        #expect(SyncValue.text("1").compared(to: .integer(1)) == nil)
        #expect(SyncValue.null.compared(to: .null) == nil)
    }

    /// Rule 2.
    @Test func onlyNaNIsInvalid() {
        #expect(!SyncValue.real(.nan).isValid)
        #expect(SyncValue.real(.infinity).isValid && SyncValue.null.isValid)
    }

    @Test func columnsAreADictionaryInOrder() {
        var random = SeededRandom(seed: 2)
        var (columns, expected) = (Columns<Int>(), [String: Int]())
        for step in 0..<500 {
            let name = String(Int.random(in: 0..<20, using: &random))
            let value = Int.random(in: 0..<3, using: &random) == 0 ? nil : step
            (columns[name], expected[name]) = (value, value)
            #expect(columns.map(\.name) == expected.keys.sorted())
        }
        #expect(columns.allSatisfy { expected[$0.name] == $0.value })
    }
}
