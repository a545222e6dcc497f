import RunwayDemo
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ViewsTourTests {
    @Test func runningAppInsertsOnlyTheMarquee() async throws {
        let report = try await ViewsTour.play()
        #expect(report.problems.isEmpty)
        #expect(report.edits == 1 && report.nodes == 9)
        #expect(report.inserted.count == 1 && report.inserted[0].hasPrefix("Viewings on Sunday"))
    }
}
