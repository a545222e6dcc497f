import Foundation
import NIOCore
import RunwayTesting
import Testing

@testable import RunwayServer

/// What a hub replays to a client that comes back.
@Suite(.timeLimit(.minutes(10)))
struct EventReplayTests {
    /// A log whose events are gone, although it has their range.
    private struct EmptiedLog: EventLog {
        func range() -> EventLogRange { EventLogRange(epoch: "e", first: 1, last: 5) }
        func append(_: [PublishedEvent]) -> EventLogRange { range() }
        func events(after offset: Int64, upTo _: Int) -> (first: Int64, events: [PublishedEvent]) { (offset + 1, []) }
    }

    @Test func eventsLostByTheLogAreAGap() async throws {
        let server = try await HubUnderTest(EmptiedLog())
        let client = try await server.open("/news", ["Last-Event-ID": "e-2"])
        try await client.waitUntilLive()
        #expect(client.text.contains(#"data: {"from":"e-3","to":"e-5"}"#))
    }

    @Test func pagesOfOtherTopicsSendHeartbeats() async throws {
        let log = MemoryEventLog()
        _ = log.append((1...600).map { PublishedEvent(topic: $0 == 300 ? "sport" : "other", data: "\($0)") })
        let server = try await HubUnderTest(log)
        let epoch = server.hub.epoch
        let client = try await server.open("/news?topics=sport", ["Last-Event-ID": "\(epoch)-0"])
        try await client.waitUntilLive()
        // The second page has an event, which the client receives instead of a heartbeat.
        let places = client.text.components(separatedBy: "\n\n").filter { $0.hasPrefix("id: ") && !$0.contains("\n") }
        #expect(places == ["id: \(epoch)-256", "id: \(epoch)-600"])
        #expect(client.events == ["300"])
    }

    @Test func largeEventsAreWrittenInParts() async throws {
        let server = try await HubUnderTest()
        let text = String(repeating: "x", count: 100_000)
        for number in 1...40 { try await server.publish("\(number) " + text) }
        let client = try await server.open("/news", ["Last-Event-ID": "\(server.hub.epoch)-0"])
        try await client.waitUntilLive()
        #expect(client.events.map { String($0.prefix(while: { $0 != " " })) } == (1...40).map { "\($0)" })
        #expect(client.largestPart <= 256 << 10)
    }

    @Test func pagesOfALogAreBoundedInBytes() throws {
        let log = MemoryEventLog()
        let text = String(repeating: "x", count: 100_000)
        _ = log.append((1...5).map { PublishedEvent(topic: "a", data: "\($0) " + text) })
        // A page ends with the event that reaches the bound.
        #expect(log.events(after: 0, upTo: 256).events.count == 3)
        #expect(log.events(after: 3, upTo: 256).events.count == 2)
        #expect(log.events(after: 0, upTo: 2).events.count == 2)
    }

    @Test func clientWaitsForAllPagesOfOtherProcesses() async throws {
        let log = TestedEventLog()
        let server = try await HubUnderTest(log)
        log.change(to: .hanging)
        defer { log.change(to: .responding) }
        let text = String(repeating: "x", count: 100_000)
        _ = log.append((1...10).map { PublishedEvent(topic: "all", data: "\($0) " + text) })
        let opening = Task { try await server.open("/news", ["Last-Event-ID": "\(server.hub.epoch)-10"]) }
        try await waitUntil("the connection") { server.hub.connectionCount == 1 }
        log.change(to: .responding)
        let client = try await opening.value
        try await client.waitUntilLive()
        #expect(client.text.contains("runway.resumed"), "the hub had not read the last page")
    }

    @Test func eventAfterAMissingOneEndsTheConnection() throws {
        let connection = EventConnection(
            id: "1", source: "", owner: "", topics: nil, heartbeat: .seconds(1), endTime: nil, epoch: "e",
            maximumByteCount: 1000, at: .zero)
        connection.offset = 3
        connection.beginLive()
        let frame = ByteBuffer(string: "data: x\n\n")
        #expect(!connection.offer(frame, topic: "a", 3), "a replay was ahead")
        #expect(connection.offer(frame, topic: "a", 4) && connection.end == nil)
        #expect(!connection.offer(frame, topic: "a", 6) && connection.end == .slow)
    }

    @Test func memberIsAbsentDuringTheReplay() async throws {
        let server = try await HubUnderTest { $0.presenceGrace = .seconds(30) }
        try await server.publish("goal", topic: "sport")
        let client = try await server.open(
            "/news?topics=sport", ["Last-Event-ID": "\(server.hub.epoch)-0"], as: EventPermission(owner: "anna"),
            reads: false)
        try await client.waitForWrite()
        #expect(try await server.hub.present(in: "sport").isEmpty)
        client.read()
        try await client.wait(for: "event: presence")
        #expect(try await server.hub.present(in: "sport") == ["anna"])
    }

    @Test func eventsThatAnotherProcessRemovedAreOneGap() async throws {
        let log = TestedEventLog(maximumCount: 10)
        let server = try await HubUnderTest(log)
        let events = (1...100).map { PublishedEvent(topic: "all", data: "\($0)") }
        for event in events { _ = log.append([event]) }
        let client = try await server.open("/news", ["Last-Event-ID": "\(server.hub.epoch)-3"])
        try await client.waitUntilLive()
        #expect(!client.text.contains("runway.resumed"))
        #expect(client.text.components(separatedBy: "runway.gap").count == 2)
        #expect(client.events.last == "100")
    }

    @Test func logInMemoryIsBoundedInBytes() throws {
        let log = MemoryEventLog(maximumByteCount: 10_000)
        let text = String(repeating: "x", count: 900)
        for number in 1...50 { _ = log.append([PublishedEvent(topic: "a", data: "\(number) " + text)]) }
        let range = log.range()
        #expect(range.last == 50 && (40...43).contains(range.first))
        // The last event stays, however large it is.
        let large = log.append([PublishedEvent(topic: "a", data: String(repeating: "x", count: 20_000))])
        #expect(large.first == 51 && large.last == 51)
    }

    @Test func replayQueuesNoHeartbeat() async throws {
        let connection = EventConnection(
            id: "1", source: "", owner: "", topics: nil, heartbeat: .seconds(1), endTime: nil, epoch: "e",
            maximumByteCount: 1000, at: .zero)
        connection.queueHeartbeat()
        connection.offset = 3
        connection.beginLive()
        connection.queueHeartbeat()
        let frames = try #require(await connection.next())
        #expect(frames.map { String(buffer: $0) } == ["id: e-3\n\n"])
    }
}
