import Testing

@testable import Runway

/// When the completion handlers of a background session are called.
struct BackgroundReportsTests {
    private var reports = BackgroundReports<String>()

    @Test mutating func handlerWaitsForTheReport() {
        let early = reports.add("a", at: .zero)
        let called = reports.report(at: .seconds(1))
        #expect(early.isEmpty && called == ["a"])
    }

    @Test mutating func reportJustBeforeTheHandlerCounts() {
        let early = reports.report(at: .zero)
        let called = reports.add("a", at: .seconds(1))
        #expect(early.isEmpty && called == ["a"])
    }

    @Test mutating func handlerWaitsForTheDeliveries() {
        reports.deliveryBegan()
        reports.deliveryBegan()
        let early = reports.add("a", at: .zero) + reports.report(at: .zero) + reports.deliveryEnded()
        let called = reports.deliveryEnded()
        #expect(early.isEmpty && called == ["a"])
    }

    @Test mutating func reportOfAnEarlierWakeDoesNotCount() {
        // The user launched the app, and no handler came.
        _ = reports.report(at: .zero)
        let early = reports.add("a", at: .seconds(60))
        let called = reports.report(at: .seconds(61))
        #expect(early.isEmpty && called == ["a"])
    }

    @Test mutating func reportCountsOnce() {
        let called = reports.add("a", at: .zero) + reports.report(at: .zero)
        let early = reports.add("b", at: .seconds(1))
        #expect(called == ["a"] && early.isEmpty)
    }

    @Test mutating func everyHandlerIsCalled() {
        let early = reports.add("a", at: .zero) + reports.add("b", at: .zero)
        let called = reports.report(at: .zero)
        #expect(early.isEmpty && called == ["a", "b"])
    }
}
