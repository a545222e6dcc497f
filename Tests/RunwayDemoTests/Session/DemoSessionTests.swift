import Foundation
import Runway
import Testing

@testable import RunwayDemo

/// Whole sessions, one after the other: each has a backend and an app to itself, over real sockets.
@MainActor
@Suite(.serialized, .timeLimit(.minutes(10)))
struct DemoSessionTests {
    /// The properties of a call that do not depend on time.
    private struct Call: Equatable {
        let service: String
        let endpoint: String
        let parameters: Parameters
        let outcome: String

        init(_ flight: FlightRecord) {
            service = flight.service
            endpoint = flight.endpoint
            parameters = flight.parameters
            outcome = flight.outcome.error.map { "\($0.kind.name)" } ?? flight.outcome.name
        }
    }

    @Test(arguments: [1, 7, 20_251])
    func everyCallAndScreenIsAsExpected(seed: UInt64) async throws {
        let report = try await DemoSession.play(seed: seed)
        #expect(report.problems.isEmpty, "seed \(seed): \(report.problems)")
        #expect(report.calls == report.flights.count)
        #expect(
            report.callsNotSent == [
                .fromCache: 5, .joined: 11, .merged: 9, .circuitOpen: 3, .badParameters: 1,
            ])
        #expect(report.requestsRepeated == [.retried: 2, .newToken: 10])
        #expect(report.envelopes.count == 1)
        #expect(report.callsSent == report.calls - 29)
        #expect(report.requestsOnTheWire == report.callsSent + 12 + 1)
        #expect(report.bytes > 100_000)
        let completed = report.flights.flatMap(\.attempts).filter { $0.status != nil }
        #expect(completed.allSatisfy { $0.httpVersion == "HTTP/2" })
    }

    @Test func equalSeedsProduceEqualCallsAndScreens() async throws {
        let first = try await DemoSession.play(seed: 3)
        let second = try await DemoSession.play(seed: 3)
        #expect(first.flights.map(Call.init) == second.flights.map(Call.init))
        #expect(first.scenes.map(\.title) == second.scenes.map(\.title))
        #expect(first.scenes.map(\.screen) == second.scenes.map(\.screen))
        #expect(first.requestsOnTheWire == second.requestsOnTheWire)
        #expect(first.bytes == second.bytes)
    }

    @Test func theReportExplainsUnsentCalls() async throws {
        let report = try await DemoSession.play(seed: 5)
        let data = try JSONEncoder().encode(report)
        let json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(json["calls"] as? Int == (json["flights"] as? [Any])?.count)
        #expect(
            json["callsNotSent"] as? [String: Int] == [
                "fromCache": 5, "joined": 11, "merged": 9, "circuitOpen": 3, "badParameters": 1,
            ])
        #expect(json["requestsRepeated"] as? [String: Int] == ["retried": 2, "newToken": 10])

        let text = report.description
        #expect(text.contains("    11  joined another call's request\n"))
        #expect(text.contains("    10  sent again with a new token\n"))
        #expect(!text.contains("Not as it should be"))
        // The only words of that length and alphabet are access tokens.
        let secret = /[0-9a-f]{32}/
        #expect(!text.contains(secret))
        #expect(!String(decoding: data, as: UTF8.self).contains(secret))
    }

    @Test func aCancelledSessionEndsInItsMiddle() async throws {
        let session = Task { @MainActor in
            try await DemoSession.play(seed: 1) { title in
                // The scene waits for a server that takes four seconds.
                if title.hasPrefix("A screen left") { withUnsafeCurrentTask { $0?.cancel() } }
            }
        }
        await #expect(throws: CancellationError.self) { try await session.value }
    }
}
