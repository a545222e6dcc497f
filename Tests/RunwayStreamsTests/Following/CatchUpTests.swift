import Runway
import RunwayServer
import RunwayStreams
import RunwayTesting
import RunwayTransport
import StreamFixtures
import Testing

/// The end of what a connection replays.
@Suite(.timeLimit(.minutes(10)))
struct CatchUpTests {
    private func publish(_ numbers: Range<Int>, to hub: EventHub) async throws {
        for number in numbers { try await hub.publish(PublishedEvent(topic: "all", data: "\(number)")) }
    }

    @Test func catchingUpComesBetweenOldAndNewEvents() async throws {
        let hub = try await EventHub(name: "news")
        var server = try await StreamServer.start(hub)
        let (network, transport) = try makeNetwork(port: server.port)
        let reception = Reception()
        let events = network.events(of: News(), options: hasty)
        #expect(!events.isCaughtUp)
        let task = reception.follow(events)
        try await reception.wait(forCatchUps: 1)
        #expect(events.isCaughtUp)
        try await publish(0..<2, to: hub)
        try await reception.wait(forEvents: 2)
        let port = server.port
        await server.kill()
        try await waitUntil("the loss of the link") { !events.isCaughtUp }
        // More than one page of the replay.
        try await publish(2..<602, to: hub)
        server = try await StreamServer.start(hub, port: port)
        try await reception.wait(forCatchUps: 2)
        try await publish(602..<603, to: hub)
        try await reception.wait(forEvents: 603)
        #expect(
            reception.log == ["reset: first", "caught up", "0", "1", "resumed"] + (2..<602).map(String.init)
                + ["caught up", "602"])
        task.cancel()
        await server.kill()
        await transport.shutdown(waitingAtMost: .zero)
    }

    @MainActor @Test func aDelegateCatchesUpAfterWhatWasMissed() async throws {
        let hub = try await EventHub(name: "news")
        var server = try await StreamServer.start(hub)
        let (network, transport) = try makeNetwork(port: server.port)
        let screen = Screen()
        let stream = EventStream(News(), on: network, delegate: screen, options: hasty)
        stream.start()
        try await waitUntil("the first connection") { stream.isCaughtUp }
        let port = server.port
        await server.kill()
        try await waitUntil("the loss of the link") { !stream.isCaughtUp }
        try await publish(0..<3, to: hub)
        server = try await StreamServer.start(hub, port: port)
        try await waitUntil("the second connection") { stream.isCaughtUp }
        #expect(screen.log == ["reset: first", "caught up", "resumed", "0", "1", "2", "caught up"])
        stream.stop()
        #expect(!stream.isCaughtUp)
        await server.kill()
        await transport.shutdown(waitingAtMost: .zero)
    }
}

/// Writes down what a stream notifies it of.
@MainActor private final class Screen: EventStreamDelegate {
    private(set) var log: [String] = []

    func eventStream(_ stream: any EventStreaming, didReceive event: StreamEvent) {
        #expect(!stream.isCaughtUp)
        log.append(event.text)
    }

    func eventStream(_ stream: any EventStreaming, didConnect continuity: StreamContinuity) {
        log.append("\(continuity)")
    }

    func eventStreamDidCatchUp(_ stream: any EventStreaming) {
        #expect(stream.isCaughtUp)
        log.append("caught up")
    }

    func eventStream(_ stream: any EventStreaming, didEndWith error: NetworkError?) { log.append("ended") }
}
