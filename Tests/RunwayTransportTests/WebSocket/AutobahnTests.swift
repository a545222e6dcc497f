import Foundation
import Runway
import RunwayTesting
import Testing

@testable import RunwayTransport

/// The cases of the Autobahn suite, whose server `Scripts/autobahn.sh` starts: it judges what the client does, and the script reads the
/// verdicts.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["RUNWAY_AUTOBAHN"] != nil))
struct AutobahnTests {
    private struct Visit: Endpoint {
        static let service = TestService.self
        let path: EndpointPath
        var parameters: Parameters
        func encode(to encoder: any Encoder) {}
    }

    private let network: NetworkLayer

    init() throws {
        // The suite's server may be busy for long with the case before.
        let transport = try NIOTransport(configuration: TransportConfiguration(connectTimeout: .seconds(300)))
        network = NetworkLayer(to: ProcessInfo.processInfo.environment["RUNWAY_AUTOBAHN"] ?? "", over: transport)
    }

    private func open(_ path: EndpointPath, _ parameters: Parameters = [:]) async throws -> WebSocketFlight {
        try await network.openWebSocket(
            Visit(path: path, parameters: parameters), offering: WebSocketOffer(), options: .standard)
    }

    @Test func echoesEveryCase() async throws {
        let counting = try await open("getCaseCount")
        guard case .text(let text)? = try await counting.next(), let count = Int(text) else {
            Issue.record("the server names no number of cases")
            return
        }
        #expect(count > 0)
        for number in 1...count {
            let chat = try await open("runCase", ["case": .integer(Int64(number)), "agent": "runway"])
            // A case may end with an error, which it provokes; the server judges what it saw.
            while let payload = try? await chat.next() { try? await chat.connection.send(payload) }
        }
        let reporting = try await open("updateReports", ["agent": "runway"])
        while try await reporting.next() != nil {}
    }
}
