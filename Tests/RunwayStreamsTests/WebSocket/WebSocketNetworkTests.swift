import HTTPTypes
import Runway
import RunwayTesting
import StreamFixtures
import Testing

@testable import RunwayStreams

/// What a WebSocket does when the network of the device changes, and when the app comes to the foreground.
@Suite(.timeLimit(.minutes(5)))
struct WebSocketNetworkTests {
    private let clock = ManualClock()
    private let status = SettableNetworkStatus(NetworkStatus(.wifi, identity: "home"))
    private let sockets: FakeWebSockets
    private let chat: WebSocketSequence

    init() {
        sockets = FakeWebSockets(clock)
        let network = NetworkLayer(transport: sockets, pipeline: .tested, clock: LayerClock(clock), status: status)
        chat = network.webSocket(ChatRoom(), randomness: SeededGenerator(seed: 1))
    }

    // The clock stands still in the first two tests, so that no silence causes the ping.

    @Test func networkThatLeadsElsewherePingsTheConnection() async throws {
        let reading = Task { for try await _ in chat {} }
        defer { reading.cancel() }
        try await waitUntil("the connection") { chat.state == .open }
        status.set(NetworkStatus(.wifi, identity: "office"))
        try await waitUntil("the ping") { sockets.connections[0].pingCount == 1 }
        #expect(chat.state == .open && sockets.connections.count == 1)
    }

    @Test func resumePingsAnOpenWebSocket() async throws {
        let reading = Task { for try await _ in chat {} }
        defer { reading.cancel() }
        try await waitUntil("the connection") { chat.state == .open }
        chat.resume()
        try await waitUntil("the ping") { sockets.connections[0].pingCount == 1 }
        #expect(chat.state == .open && sockets.connections.count == 1)
    }

    @Test func networkThatLeadsElsewhereEndsAWait() async throws {
        // After the page of a portal it waits for 60 s.
        sockets.refuse(.ok, type: "text/html")
        let reading = Task { for try await _ in chat {} }
        defer { reading.cancel() }
        try await waitUntil("the wait") { chat.state == .waiting }
        status.set(.cellular)
        let limit = clock.now.advanced(by: .seconds(1))
        try await waitUntil("the connection") {
            chat.state == .open
        } meanwhile: {
            clock.advanceToDeadline(upTo: limit)
        }
        #expect(sockets.requests.count == 2)
    }
}
