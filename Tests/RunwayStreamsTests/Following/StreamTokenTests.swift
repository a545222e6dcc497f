import Foundation
import Runway
import RunwayStreams
import RunwayTesting
import StreamFixtures
import Testing

/// A stream whose token ends, over links that a test plays.
@Suite(.timeLimit(.minutes(5)))
struct StreamTokenTests {
    /// A service whose tokens are renewed 30 s before their end.
    private enum Lounge: APIService {
        static let name = "lounge"
        static let environments: [ServiceEnvironment: String] = [.release: "https://lounge.example"]
        static let credentials: (any Credentials)? = LoungeCredentials()
        static let deadline = Duration.seconds(600)
    }

    private struct LoungeCredentials: Credentials {
        func refresh(_ token: AccessToken, on network: NetworkLayer) async throws -> AccessToken {
            AccessToken("t2", account: token.account)
        }
    }

    private struct LoungeEvents: EventStreamEndpoint {
        static let service = Lounge.self
        var path: EndpointPath { "events" }
    }

    @Test func streamResumesWithARenewedToken() async throws {
        let (clock, server, reception) = (ManualClock(), FakeEvents(), Reception())
        let network = NetworkLayer(
            transport: server, pipeline: .tested, clock: LayerClock(clock), status: SettableNetworkStatus())
        let expiry = network.clock.date.addingTimeInterval(100)
        try await network.signIn(AccessToken("t1", account: "ada", expiry: expiry), to: Lounge.self)
        let events = network.events(of: LoungeEvents())
        let task = reception.follow(events)
        try await waitUntil("the first link") { server.links.count == 1 }
        server.links[0].open("reset", at: 7)
        try await reception.wait(forConnections: 1)
        try await waitUntil("the opening") { events.state == .open }
        // After 85 s at the latest; a silent link is not found dead before 100 s.
        clock.advance(by: .seconds(90))
        let limit = clock.now.advanced(by: .seconds(5))
        try await waitUntil("the second link") {
            server.links.count == 2
        } meanwhile: {
            clock.advanceToDeadline(upTo: limit)
        }
        #expect(server.links.map { $0.field("Authorization") } == ["Bearer t1", "Bearer t2"])
        #expect(server.links[1].field("Last-Event-ID") == "e-7")
        server.links[1].open("resumed", at: 7)
        try await reception.wait(forConnections: 2)
        #expect(reception.continuities.last == .resumed)
        task.cancel()
    }
}
