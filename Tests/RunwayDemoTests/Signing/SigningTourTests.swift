import Runway
import Testing

@testable import RunwayDemo

/// Signed calls and attempts to pass as the app, over real sockets.
@Suite(.timeLimit(.minutes(10)))
struct SigningTourTests {
    @Test func everyAttemptIsRefusedWithItsReason() async throws {
        let report = try await SigningTour.play()

        #expect(report.problems.isEmpty, "\(report)")
        #expect(
            report.rows.map(\.refusals) == [[], ["401 invalid"], ["401 replayed"], ["400 body"], ["401 tooOld"], []])
        #expect(report.rows.map(\.accepted) == [1, 0, 0, 0, 1, 40])
        #expect(report.flights.count > 40)
        let text = report.description
        for row in report.rows { #expect(text.contains(row.title) && text.contains(row.outcome)) }
        for flight in report.flights { #expect(text.contains(flight.summary)) }
    }

    @Test func cancelledTourEnds() async throws {
        let tour = Task { try await SigningTour.play() }
        tour.cancel()
        await #expect(throws: (any Error).self) { try await tour.value }
    }
}
