import RunwayDemo
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ChatTourTests {
    @Test func messagesWrittenOfflineArriveOnceOnBothScreens() async throws {
        let report = try await ChatTour.play()
        #expect(report.problems.isEmpty)
        #expect([report.written, report.offline, report.missed, report.stored] == [5, 2, 1, 5])
        #expect(
            report.screen == [
                "ada: Is the flat at the harbour still free?", "bob: It is. You can see it at six.",
                "bob: Ring at the second door.", "ada: I am in the train.", "ada: Six is fine.",
            ])
    }
}
