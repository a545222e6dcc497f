import Foundation
import Hummingbird
import Runway
import RunwayServer
import RunwayServerStorage
import RunwayStreams
import RunwayTesting
import RunwayTransport
import StreamFixtures
import Testing

/// Client and server over real sockets.
@Suite(.timeLimit(.minutes(10)))
struct StreamSocketTests {
    private func publish(_ numbers: Range<Int>, to hub: EventHub, topic: String = "all") async throws {
        for number in numbers { try await hub.publish(PublishedEvent(topic: topic, data: "\(number)")) }
    }

    @Test func eventsArriveInOrder() async throws {
        let hub = try await EventHub(name: "news")
        let server = try await StreamServer.start(hub)
        let records = RecordCollector()
        let (network, transport) = try makeNetwork(port: server.port, records: records)
        let reception = Reception()
        let events = network.events(of: News(), options: hasty)
        let task = reception.follow(events)
        try await reception.wait(forConnections: 1)
        #expect(reception.continuities == [.reset(.first)])
        try await publish(0..<100, to: hub)
        try await reception.wait(forEvents: 100)
        #expect(reception.events == (0..<100).map(String.init))
        events.stop()
        #expect(await task.value == nil)
        // The end of the body reports the record, which is amended after it.
        await network.flushRecords()
        let record = try #require(records.records.first)
        #expect(record.decisions.contains { $0.name == "streamOpened" })
        let closed = try #require(record.decisions.first { $0.name == "streamClosed" })
        #expect(closed.fields["events"] == "100")
        #expect(closed.fields["reason"] == "stopped")
        await server.kill()
        await transport.shutdown(waitingAtMost: .zero)
    }

    @Test func aKilledServerLosesNothingForAnyClient() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "runway-streams-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "events.sqlite")
        var limits = EventHubOptions()
        limits.maximumConnectionsPerSource = 1000
        var log = try SQLiteEventLog(file: file)
        var server = try await StreamServer.start(try await EventHub(name: "news", log: log, options: limits))
        let port = server.port
        let (network, transport) = try makeNetwork(port: port)
        let receptions = (0..<100).map { _ in Reception() }
        var options = hasty
        options.maximumBackoff = .seconds(1)
        let tasks = receptions.enumerated().map {
            $1.follow(network.events(of: News(), options: options, key: "\($0)"))
        }
        for reception in receptions { try await reception.wait(forConnections: 1) }
        for round in 0..<3 {
            await server.kill()
            try log.close()
            // The server that follows has read its events from the file, and publishes before and while clients come back.
            log = try SQLiteEventLog(file: file)
            let hub = try await EventHub(name: "news", log: log, options: limits)
            try await publish(round * 20..<round * 20 + 10, to: hub)
            server = try await StreamServer.start(hub, port: port)
            try await publish(round * 20 + 10..<round * 20 + 20, to: hub)
            for reception in receptions { try await reception.wait(forEvents: round * 20 + 20) }
        }
        for reception in receptions {
            #expect(reception.events == (0..<60).map(String.init))
            #expect(reception.continuities.first == .reset(.first))
            #expect(reception.continuities.dropFirst().allSatisfy { $0 == .resumed })
        }
        for task in tasks { task.cancel() }
        await server.kill()
        await transport.shutdown(waitingAtMost: .zero)
    }

    @Test func whatTheLogLostIsAGap() async throws {
        let log = MemoryEventLog(maximumCount: 10)
        let hub = try await EventHub(name: "news", log: log)
        var server = try await StreamServer.start(hub)
        let (network, transport) = try makeNetwork(port: server.port)
        let reception = Reception()
        let task = reception.follow(network.events(of: News(), options: hasty))
        try await reception.wait(forConnections: 1)
        try await publish(0..<5, to: hub)
        try await reception.wait(forEvents: 5)
        let port = server.port
        await server.kill()
        try await publish(5..<105, to: hub)
        let first = log.range().first
        server = try await StreamServer.start(hub, port: port)
        try await reception.wait(forConnections: 2)
        let gap = StreamContinuity.gap(
            from: EventID(epoch: hub.epoch, offset: 6), to: EventID(epoch: hub.epoch, offset: first - 1))
        #expect(reception.continuities == [.reset(.first), gap])
        try await reception.wait(forEvents: 5 + Int(106 - first))
        #expect(reception.events == (Array(0..<5) + Array(Int(first - 1)..<105)).map(String.init))
        task.cancel()
        await server.kill()
        await transport.shutdown(waitingAtMost: .zero)
    }

    @Test func aLostLogIsAReset() async throws {
        var server = try await StreamServer.start(try await EventHub(name: "news"))
        let (network, transport) = try makeNetwork(port: server.port)
        let reception = Reception()
        let task = reception.follow(network.events(of: News(), options: hasty))
        try await reception.wait(forConnections: 1)
        let port = server.port
        await server.kill()
        server = try await StreamServer.start(try await EventHub(name: "news"), port: port)
        try await reception.wait(forConnections: 2)
        #expect(reception.continuities == [.reset(.first), .reset(.serverLost)])
        task.cancel()
        await server.kill()
        await transport.shutdown(waitingAtMost: .zero)
    }

    @Test func topicsComeAndGoOnOneConnection() async throws {
        let hub = try await EventHub(name: "news")
        let server = try await StreamServer.start(hub)
        let records = RecordCollector()
        let (network, transport) = try makeNetwork(port: server.port, records: records)
        let reception = Reception()
        let events = network.events(of: News(["sport"]), options: hasty)
        let task = reception.follow(events)
        try await reception.wait(forConnections: 1)
        try await publish(0..<1, to: hub, topic: "weather")
        try await publish(1..<2, to: hub, topic: "sport")
        try await reception.wait(forEvents: 1)
        try await events.subscribe(to: ["weather"])
        try await publish(2..<3, to: hub, topic: "weather")
        try await reception.wait(forEvents: 2)
        try await events.unsubscribe(from: ["sport"])
        try await publish(3..<4, to: hub, topic: "sport")
        try await publish(4..<5, to: hub, topic: "weather")
        try await reception.wait(forEvents: 3)
        #expect(reception.events == ["1", "2", "4"])
        #expect(reception.continuities.count == 1, "no new connection")
        task.cancel()
        await server.kill()
        await transport.shutdown(waitingAtMost: .zero)
    }

    @Test func consumedEventIsNotRepeatedAfterALaunch() async throws {
        let hub = try await EventHub(name: "news")
        let server = try await StreamServer.start(hub)
        let file = FileManager.default.temporaryDirectory.appending(path: "runway-cursors-\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: file) }
        var received: [String] = []
        for launch in 0..<3 {
            let (network, transport) = try makeNetwork(port: server.port)
            let store = FileStreamCursorStore(file: file)
            let reception = Reception()
            let task = reception.follow(network.events(of: News(), options: hasty, cursors: store, key: "news"))
            try await reception.wait(forConnections: 1)
            #expect(reception.continuities == [launch == 0 ? .reset(.first) : .resumed])
            try await publish(launch * 5..<launch * 5 + 5, to: hub)
            try await reception.wait(forEvents: 5)
            received += reception.events
            // The reader has asked for the next event when it waits, so that the last one counts as taken.
            let last = "\(hub.epoch)-\(launch * 5 + 5)"
            try await waitUntil("the cursor") { await store.cursor(for: "news")?.lastEventID == last }
            task.cancel()
            _ = await task.value
            await store.flush()
            await transport.shutdown(waitingAtMost: .zero)
        }
        #expect(received == (0..<15).map(String.init))
        await server.kill()
    }

    @Test func slowReaderLosesNothingThatTheLogHas() async throws {
        var hubOptions = EventHubOptions()
        hubOptions.maximumQueuedByteCount = 64 << 10
        let hub = try await EventHub(
            name: "news", log: MemoryEventLog(maximumByteCount: 256 << 20), options: hubOptions)
        let server = try await StreamServer.start(hub)
        let (network, transport) = try makeNetwork(port: server.port)
        var options = hasty
        options.maximumBufferedByteCount = 64 << 10
        var iterator = network.events(of: News(), options: options).makeAsyncIterator()
        _ = try await iterator.next()
        let text = String(repeating: "x", count: 32 << 10)
        // Until the buffers of the system are full, of whatever size they are.
        var count = 0
        while hub.connectionCount > 0, count < 4000 {
            try await hub.publish(PublishedEvent(topic: "all", data: "\(count) \(text)"))
            count += 1
        }
        try await waitUntil("the cut of the slow reader") { hub.connectionCount == 0 }
        var expected = 0
        while expected < count, let element = try await iterator.next() {
            guard case .event(let event) = element else { continue }
            #expect(event.text.hasPrefix("\(expected) "))
            expected += 1
        }
        #expect(expected == count)
        await server.kill()
        await transport.shutdown(waitingAtMost: .zero)
    }

    @Test func tooManyOfOneSourceAreRefused() async throws {
        var options = EventHubOptions()
        options.maximumConnectionsPerSource = 1
        let hub = try await EventHub(name: "news", options: options)
        let server = try await StreamServer.start(hub)
        let (network, transport) = try makeNetwork(port: server.port)
        let reception = Reception()
        let task = reception.follow(network.events(of: News(), options: hasty))
        try await reception.wait(forConnections: 1)
        await #expect {
            _ = try await network.stream(News())
        } throws: { error in
            let error = error as? NetworkError
            return error?.status == .tooManyRequests && error?.retryAfter ?? .zero >= .seconds(5)
        }
        task.cancel()
        await server.kill()
        await transport.shutdown(waitingAtMost: .zero)
    }

    @Test(arguments: [401, 403, 404]) func aRefusalEndsTheStream(_ status: Int) async throws {
        let router = Router()
        router.get("news/a%20b") { _, _ -> Hummingbird.Response in throw HTTPError(.init(code: status)) }
        let server = try await StreamServer.start(router)
        let (network, transport) = try makeNetwork(port: server.port)
        let reception = Reception()
        let events = network.events(of: News(), options: hasty)
        let error = await reception.follow(events).value
        #expect(error?.status?.code == status)
        #expect(events.state == .ended)
        await server.kill()
        await transport.shutdown(waitingAtMost: .zero)
    }

    @Test func noContentEndsTheStreamWithoutAnError() async throws {
        let router = Router()
        router.get("news/a%20b") { _, _ in Hummingbird.Response(status: .noContent) }
        let server = try await StreamServer.start(router)
        let (network, transport) = try makeNetwork(port: server.port)
        #expect(await Reception().follow(network.events(of: News(), options: hasty)).value == nil)
        await server.kill()
        await transport.shutdown(waitingAtMost: .zero)
    }

    @Test func aPausedStreamMissesNothing() async throws {
        let hub = try await EventHub(name: "news")
        let server = try await StreamServer.start(hub)
        let (network, transport) = try makeNetwork(port: server.port)
        let reception = Reception()
        let events = network.events(of: News(), options: hasty)
        let task = reception.follow(events)
        try await reception.wait(forConnections: 1)
        try await publish(0..<1, to: hub)
        try await reception.wait(forEvents: 1)
        events.pause()
        try await waitUntil("the pause") { events.state == .paused }
        try await publish(1..<3, to: hub)
        events.resume()
        try await reception.wait(forEvents: 3)
        #expect(reception.events == ["0", "1", "2"])
        #expect(reception.continuities == [.reset(.first), .resumed])
        task.cancel()
        await server.kill()
        await transport.shutdown(waitingAtMost: .zero)
    }

    @Test func halfOpenConnectionIsReplacedInTime() async throws {
        let clock = ManualClock()
        let opened = AwaitedCount()
        let router = Router()
        router.get("news/a%20b") { _, _ in
            Hummingbird.Response(
                status: .ok, headers: [.contentType: "text/event-stream"],
                body: ResponseBody { writer in
                    opened.add()
                    try await writer.write(.init(string: "data: hello\n\n"))
                    // Nothing comes any more, and nothing ends.
                    try await Task.sleep(for: .seconds(3600))
                })
        }
        let server = try await StreamServer.start(router)
        let (network, transport) = try makeNetwork(port: server.port, clock: LayerClock(clock))
        let reception = Reception()
        let events = network.events(of: News())
        let task = reception.follow(events)
        try await reception.wait(forEvents: 1)
        // 45 s of silence, and 10 s for the probe; 1 s is the longest wait before the first reconnection.
        try await waitUntil("the second connection") {
            opened.value == 2
        } meanwhile: {
            // To what the stream waits for, however late the machine lets it see that.
            clock.advanceToDeadline(upTo: ManualClock.Instant(offset: .seconds(57)))
        }
        #expect(clock.now.offset <= .seconds(57))
        task.cancel()
        await server.kill()
        await transport.shutdown(waitingAtMost: .zero)
    }

    @Test func endlessLineEndsTheStreamWithAnError() async throws {
        let router = Router()
        router.get("news/a%20b") { _, _ in
            Hummingbird.Response(
                status: .ok, headers: [.contentType: "text/event-stream"],
                body: ResponseBody { writer in
                    for _ in 0..<100 { try await writer.write(.init(repeating: UInt8(ascii: "x"), count: 1 << 16)) }
                })
        }
        let server = try await StreamServer.start(router)
        let (network, transport) = try makeNetwork(port: server.port)
        let error = await Reception().follow(network.events(of: News(), options: hasty)).value
        #expect(error?.kind == .invalidResponse)
        await server.kill()
        await transport.shutdown(waitingAtMost: .zero)
    }
}

/// Counts, and can be awaited.
private final class AwaitedCount: Sendable {
    private let count = AwaitedValue(0)
    var value: Int { count.value }
    func add() { count.update { $0 += 1 } }
}
