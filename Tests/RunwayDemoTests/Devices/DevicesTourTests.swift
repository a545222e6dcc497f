import RunwayDemo
import Testing

@Suite(.timeLimit(.minutes(10)))
struct DevicesTourTests {
    @Test func devicesAgreeAndAskAboutOneConflict() async throws {
        let report = try await DevicesTour.play(isApart: false)
        #expect(report.problems.isEmpty)
        #expect(report.equal && report.waiting == 0 && report.conflictsAsked == 1 && report.offline == 5)
        #expect(report.questions == ["Visit the flat with Bob, or Visit the flat at nine?"])
        #expect(
            report.screen == [
                "· Cancel the old lease", "✓ Visit the flat with Bob at nine",
                "· Measure the kitchen and the hall (the window, too), a photo of 20000 bytes",
                "✓ Ask for the floor plan",
            ])
    }
}
