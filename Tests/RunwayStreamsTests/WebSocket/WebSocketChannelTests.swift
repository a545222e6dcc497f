import Runway
import RunwayTesting
import Testing

@testable import RunwayStreams

@MainActor
private final class Delegate: WebSocketChannelDelegate {
    var texts: [String] = []
    var links: [Int] = []
    var ends: [NetworkError?] = []

    func webSocket(_ channel: any WebSocketChanneling, didReceive message: WebSocketMessage) {
        MainActor.assertIsolated()
        if case .text(let text) = message { texts.append(text) }
    }

    func webSocket(_ channel: any WebSocketChanneling, didConnect link: WebSocketLink) { links.append(link.number) }

    func webSocket(_ channel: any WebSocketChanneling, didEndWith error: NetworkError?) { ends.append(error) }
}

@MainActor
struct WebSocketChannelTests {
    private let clock = ManualClock()
    private let sockets: FakeWebSockets
    private let network: NetworkLayer
    private let delegate = Delegate()

    init() {
        sockets = FakeWebSockets(clock)
        network = NetworkLayer(transport: sockets, pipeline: .tested, clock: LayerClock(clock))
    }

    private func openChannel() async throws -> (WebSocketChannel<ChatRoom>, FakeConnection) {
        let channel = WebSocketChannel(ChatRoom(), on: network, delegate: delegate)
        #expect(channel.state == .idle)
        channel.start()
        try await waitUntil { delegate.links == [1] }
        return (channel, sockets.connections[0])
    }

    @Test func messagesLandAtTheDelegate() async throws {
        let (channel, connection) = try await openChannel()
        connection.deliver("one")
        connection.deliver("two")
        try await waitUntil { delegate.texts == ["one", "two"] }
        #expect(channel.link?.subprotocol == "v1")
        try await waitUntil { channel.state == .open }
        try await channel.send(.text("up"))
        #expect(connection.sent == [.text("up")])
        channel.stop()
        try await waitUntil { connection.closes.first == WebSocketClose(1000) }
        #expect(channel.state == .ended)
        #expect(delegate.ends.isEmpty)
    }

    @Test func endByTheServerIsReportedOnce() async throws {
        let (channel, connection) = try await openChannel()
        connection.end(4001, "enough")
        try await waitUntil { !delegate.ends.isEmpty }
        #expect(delegate.ends.count == 1)
        #expect(channel.error?.kind == .refused)
        #expect(channel.closeFrame?.code == WebSocketCloseCode(4001) && channel.closeFrame?.reason == "enough")
        #expect(channel.state == .ended)
    }

    @Test func nothingLandsAfterStop() async throws {
        let (channel, connection) = try await openChannel()
        channel.stop()
        connection.deliver("late")
        try await waitUntil { !connection.closes.isEmpty }
        #expect(delegate.texts.isEmpty)
        await #expect(throws: NetworkError.self) { try await channel.send(.text("late")) }
    }

    @Test func releasedChannelClosesItsConnection() async throws {
        var channel: WebSocketChannel? = WebSocketChannel(ChatRoom(), on: network, delegate: delegate)
        weak let released = channel
        channel?.start()
        try await waitUntil { delegate.links == [1] }
        channel = nil
        let connection = sockets.connections[0]
        try await waitUntil { released == nil && !connection.closes.isEmpty }
        #expect(connection.closes.first == WebSocketClose(1001))
    }
}
