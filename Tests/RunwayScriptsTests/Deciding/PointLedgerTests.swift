import Testing

@testable import RunwayScripts

struct PointLedgerTests {
    private let key = PointKey(kind: .patch, name: "orders.rows")

    @Test func thirdFailureClosesThePoint() {
        var ledger = PointLedger()
        #expect((1...4).map { _ in ledger.fail(key, of: "shop@1") } == [false, false, true, false])
        #expect(ledger.isClosed(key, for: "shop@1"))
    }

    @Test func otherVersionsAndFunctionsStayOpen() {
        var ledger = PointLedger()
        for _ in 1...3 { _ = ledger.fail(key, of: "shop@1") }
        #expect(!ledger.isClosed(key, for: "shop@2"))
        #expect(!ledger.isClosed(PointKey(kind: .view, name: "orders.rows"), for: "shop@1"))
        #expect(ledger.hasFailures(of: "shop@1") && !ledger.hasFailures(of: "shop@2"))
    }
}
