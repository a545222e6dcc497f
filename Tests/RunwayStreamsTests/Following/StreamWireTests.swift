import Hummingbird
import Runway
import RunwayDemo
import RunwayServer
import RunwayStreams
import RunwayTesting
import RunwayTransport
import StreamFixtures
import Testing

/// What differs between the versions of HTTP: how streams end, and how a slow reader is cut.
@Suite(.timeLimit(.minutes(10)))
struct StreamWireTests {
    @Test(arguments: [(false, false), (false, true), (true, false), (true, true)])
    func gracefulShutdownEndsOpenStreams(isHTTP2: Bool, isService: Bool) async throws {
        var options = EventHubOptions()
        options.drainingTime = .milliseconds(200)
        let hub = try await EventHub(name: "news", options: options)
        let certificate = try isHTTP2 ? DemoCertificate() : nil
        let server = try await StreamServer.start(hub, with: certificate, isService: isService)
        let records = RecordCollector()
        let (network, transport) = try makeNetwork(port: server.port, records: records, trusting: certificate)
        let receptions = (0..<20).map { _ in Reception() }
        let tasks = receptions.enumerated().map { $1.follow(network.events(of: News(), options: hasty, key: "\($0)")) }
        for reception in receptions { try await reception.wait(forCatchUps: 1) }
        await server.shutDown()
        #expect(hub.connectionCount == 0)
        // The clients see the end of their responses, and not the loss of a connection.
        try await waitUntil("the records of all links") { links(in: records).count == 20 }
        for link in links(in: records) {
            #expect(link.attempts.last?.httpVersion == (isHTTP2 ? "HTTP/2" : "HTTP/1.1"))
        }
        let cut = links(in: records).filter { link in
            !link.decisions.contains { $0.name == "streamClosed" && $0.fields["reason"] == "closed" }
        }
        // Hummingbird closes a connection of HTTP/2 with its last stream, whose end may not be sent then: the GOAWAY announced it, unless a
        // reset of the connection discarded it unread. A hub that is a service ends its streams before that.
        #expect(cut.count <= (isHTTP2 && !isService ? 1 : 0))
        for task in tasks { task.cancel() }
        await transport.shutdown(waitingAtMost: .zero)
    }

    /// The records of the links that were opened and have ended.
    private func links(in records: RecordCollector) -> [FlightRecord] {
        // A record is reported again when the stream has noted its end.
        records.records.filter { record in record.decisions.contains { $0.name == "streamClosed" } }
    }

    @Test func slowReaderIsCutOnASharedConnection() async throws {
        var hubOptions = EventHubOptions()
        hubOptions.maximumQueuedByteCount = 64 << 10
        let hub = try await EventHub(name: "news", options: hubOptions)
        let certificate = try DemoCertificate()
        let server = try await StreamServer.start(hub, with: certificate)
        let (network, transport) = try makeNetwork(port: server.port, trusting: certificate) {
            $0.maximumConnectionsPerOrigin = 1
            $0.wire.streamWindowByteCount = 64 << 10
        }
        var options = hasty
        options.maximumBufferedByteCount = 64 << 10
        var slow = network.events(of: News(), options: options, key: "slow").makeAsyncIterator()
        _ = try await slow.next()
        let reception = Reception()
        let task = reception.follow(network.events(of: News(), options: options, key: "fast"))
        try await reception.wait(forCatchUps: 1)
        #expect(hub.connectionCount == 2)
        let text = String(repeating: "x", count: 32 << 10)
        // The other stream of the connection receives each event: only the window of the slow one is full.
        var count = 0
        while hub.connectionCount == 2, count < 600 {
            try await hub.publish(PublishedEvent(topic: "all", data: "\(count) \(text)"))
            count += 1
            try await reception.wait(forEvents: count)
        }
        #expect(count < 600 && hub.connectionCount == 1)
        #expect(reception.continuities == [.reset(.first)])
        var received = 0
        while received < count, let element = try await slow.next() {
            guard case .event(let event) = element else { continue }
            #expect(event.text.hasPrefix("\(received) "))
            received += 1
        }
        #expect(received == count)
        task.cancel()
        await server.kill()
        await transport.shutdown(waitingAtMost: .zero)
    }
}
