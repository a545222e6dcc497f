import Foundation
import RunwayTesting
import Testing

@testable import Runway

/// Downloads that wait until a cancelled one has closed the same file.
@Suite(.timeLimit(.minutes(10)))
struct FileClaimsTests {
    private enum Films: APIService {
        static let name = "films"
        static let environments: [ServiceEnvironment: String] = [.release: "https://films.example"]
    }

    private struct Film: Endpoint {
        static let service = Films.self
        var path: EndpointPath { "film" }
    }

    private let file = URL(fileURLWithPath: "/film")
    private let claims = FileClaims()
    private let clock = ManualClock()

    /// Runs `body` while a cancelled download that does not end has the file; `body` receives a later call.
    private func whileFileIsInUse(_ body: (Flight) async throws -> Void) async throws {
        let network = NetworkLayer(
            transport: StubTransport { _ in .json("{}") }, pipeline: .tested, clock: LayerClock(clock))
        let gate = ScriptedGate()
        let (claims, file, flight) = (claims, file, network.makeFlight(Film.self, .standard))
        let first = Task {
            try await claims.run(to: file, in: flight) { () async throws(NetworkError) in
                // A task of its own, so that the cancellation does not end it.
                _ = try? await Task { try await gate.pass() }.value
            }
        }
        try await gate.waitForArrivals()
        first.cancel()
        try await body(network.makeFlight(Film.self, .standard))
        gate.open()
        try await first.value
        try await claims.run(to: file, in: network.makeFlight(Film.self, .standard)) {}
    }

    @Test func aWaitingDownloadIsCancelled() async throws {
        try await whileFileIsInUse { flight in
            let second = Task { [claims, file] in try await claims.run(to: file, in: flight) {} }
            second.cancel()
            let error = await #expect(throws: NetworkError.self) { try await second.value }
            #expect(error?.kind == .cancelled && error?.sending == .notSent)
        }
    }

    @Test func aWaitingDownloadTimesOut() async throws {
        try await whileFileIsInUse { flight in
            clock.advance(by: Films.deadline + .seconds(1))
            let error = await #expect(throws: NetworkError.self) { try await claims.run(to: file, in: flight) {} }
            #expect(error?.kind == .timedOut && error?.step == .saving)
        }
    }
}
