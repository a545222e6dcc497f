import Foundation
import Runway
import Testing

@testable import RunwayDemo

/// The host with four addresses, over real sockets.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct HostTourTests {
    @Test func rightAddressWinsAndTheTableExplainsIt() async throws {
        let report = try await HostTour.play()
        #expect(report.problems.isEmpty, "\(report)")
        #expect(
            report.rows.map(\.won) == [
                "127.0.0.3", "127.0.0.3", "127.0.0.3", "127.0.0.5", "127.0.0.5", "127.0.0.3", nil,
            ])
        // The first call dials two at once, the probe all, and who finds a connection none.
        #expect(report.rows[0].dialled.contains("127.0.0.3") && report.rows[0].dialled.count >= 2)
        #expect(report.rows[1].dialled == ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"])
        #expect(report.rows[3].why.contains("hedged: no response after"))
        // On a machine that stood still the first attempt has no connection left, and finds the same way as the second.
        #expect(report.rows[3].why.contains("attempt won after"))
        let why = report.rows[4].why
        #expect(why.contains("127.0.0.3 refused, and is banned for") || why.contains("127.0.0.3 was silent"))
        #expect(report.rows[6].why.hasSuffix("It saw 0 requests."))
        let text = report.description
        for row in report.rows { #expect(text.contains(row.title) && text.contains(row.why)) }
        #expect(!report.flights.isEmpty)
        for flight in report.flights { #expect(text.contains(flight.summary)) }
        #expect(text.contains("127.0.0.4  dead, does not respond"))
    }

    @Test func aCancelledTourEnds() async throws {
        let tour = Task { try await HostTour.play() }
        tour.cancel()
        await #expect(throws: (any Error).self) { try await tour.value }
    }
}
