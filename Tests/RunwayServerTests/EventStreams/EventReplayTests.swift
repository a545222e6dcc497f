import NIOCore
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

    @Test func eventsThatTheLogHasLostAreAGap() async throws {
        let server = try await HubUnderTest(EmptiedLog())
        let client = try await server.open("/news", ["Last-Event-ID": "e-2"])
        try await client.waitUntilLive()
        #expect(client.text.contains(#"data: {"from":"e-3","to":"e-5"}"#))
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

    @Test func noSignOfLifeIsQueuedDuringAReplay() async throws {
        let connection = EventConnection(
            id: "1", source: "", owner: "", topics: nil, heartbeat: .seconds(1), endTime: nil, epoch: "e",
            maximumByteCount: 1000, at: .zero)
        connection.proveLife()
        connection.offset = 3
        connection.beginLive()
        connection.proveLife()
        let frames = try #require(await connection.next())
        #expect(frames.map { String(buffer: $0) } == ["id: e-3\n\n"])
    }
}
