import HTTPTypes
import Runway
import RunwayJSON
import RunwayTesting
import StreamFixtures
import Testing

@testable import RunwayStreams

/// How a stream ends, waits and learns, over links that a test plays.
@Suite(.timeLimit(.minutes(5)))
struct FollowedStreamTests {
    @Test func expiredGracePausesTheStream() async throws {
        let (gate, grace) = (ScriptedGate(), ScriptedGrace())
        let stream = FollowedStream(grace: grace)
        let first = try await stream.openedLink()
        stream.server.holdLinks(at: gate)
        let limit = stream.waitLimit
        first.lose()
        try await waitUntil("the next link") {
            gate.arrivalCount == 1
        } meanwhile: {
            stream.clock.advanceToDeadline(upTo: limit)
        }
        grace.expire()
        try await waitUntil("the pause") { stream.events.state == .paused }
        gate.open()
        stream.events.resume()
        #expect(try await stream.link(2).field("Last-Event-ID") == "e-7")
    }

    @Test func lastReconnectionTimeOfALinkCounts() async throws {
        let stream = FollowedStream()
        let first = try await stream.openedLink()
        for time in [50_000, 1, 20_000] { first.send("retry: \(time)\n\n") }
        first.event(8, "eight")
        try await stream.reception.wait(forEvents: 1)
        first.end()
        // The wait of up to a second comes after it.
        let range = Duration.seconds(20)...Duration.seconds(21)
        try await waitUntil("the wait") { stream.clock.nextDeadline.map { range.contains($0.offset) } ?? false }
    }

    @Test func longerHeartbeatOfTheServerIsHonoured() async throws {
        let stream = FollowedStream { $0.setFields(["Runway-Heartbeat": "40", "Runway-Heartbeat-Limit": "60"]) }
        _ = try await stream.openedLink()
        try await waitUntil("the deadline") { stream.clock.nextDeadline?.offset == .seconds(45) }
    }

    @Test func linkThatNeverStatesItsContinuityIsDropped() async throws {
        let stream = FollowedStream()
        let link = try await stream.link(1)
        try await waitUntil("the deadline") { stream.clock.nextDeadline?.offset == .seconds(55) }
        stream.clock.advance(by: .seconds(54))
        link.send(": alive\nid: e-1\n\n")
        try await waitUntil("the reader") { link.readCount == 1 }
        stream.clock.advance(by: .seconds(1))
        _ = try await stream.link(2)
        #expect(stream.reception.continuities.isEmpty)
    }

    @Test func commentsBeforeTheContinuityTeachNoSilence() async throws {
        let stream = FollowedStream { $0.setFields(["Runway-Heartbeat": "25", "Runway-Heartbeat-Limit": "60"]) }
        for number in 1...3 {
            let link = try await stream.link(number)
            let opening = stream.clock.now.offset
            try await waitUntil("the deadline") { stream.clock.nextDeadline?.offset == opening + .seconds(40) }
            for count in 1...3 {
                stream.clock.advance(by: .seconds(10))
                link.send(": alive\n\n")
                try await waitUntil("the comment") { link.readCount == count }
            }
            // After the time in which a silent link is suspected.
            stream.clock.advance(by: .seconds(5))
            link.open(number == 1 ? "reset" : "resumed", at: 7)
            try await stream.reception.wait(forConnections: number)
            try await waitUntil("the next deadline") { stream.clock.nextDeadline?.offset == opening + .seconds(65) }
            link.end()
        }
        #expect(try await stream.link(4).field("Runway-Heartbeat") == "25")
    }

    @Test func linkAsksForPaddingAndNoContentCoding() async throws {
        let stream = FollowedStream()
        let link = try await stream.link(1)
        #expect(link.field("Runway-Padding") == "512" && link.field("Accept-Encoding") == "identity")
        #expect(link.field("Accept") == "text/event-stream" && link.field("Cache-Control") == "no-cache")
    }

    @Test func clockThatWakesEarlyHidesNoSilence() async throws {
        let stream = FollowedStream(wakingEarly: true)
        _ = try await stream.openedLink()
        for seconds in [44, 45] {
            try await waitUntil("the deadline") { stream.clock.nextDeadline?.offset == .seconds(seconds) }
            stream.clock.advance(to: ManualClock.Instant(offset: .seconds(seconds)))
        }
        try await waitUntil("the probe") { stream.server.changes == [.init()] }
    }

    @Test func lossDuringASilenceShortensTheNextHeartbeat() async throws {
        let stream = FollowedStream { $0.setFields(["Runway-Heartbeat": "25", "Runway-Heartbeat-Limit": "60"]) }
        let status = stream.network.status
        for round in 1...3 {
            stream.network.heartbeats.survived(
                .seconds(25), on: status.identity ?? status.link.rawValue, at: .seconds(25 * round),
                HeartbeatLearner.Bounds(StreamOptions()))
        }
        try await stream.openedLink().end()
        stream.server.setFields(["Runway-Heartbeat": "30", "Runway-Heartbeat-Limit": "60"])
        let second = try await stream.link(2)
        #expect(second.field("Runway-Heartbeat") == "30")
        second.open("resumed", at: 7)
        try await stream.reception.wait(forConnections: 2)
        try await waitUntil("the second link") { stream.events.state == .open }
        stream.clock.advance(by: .seconds(29))
        second.lose()
        #expect(try await stream.link(3).field("Runway-Heartbeat") == "25")
    }

    @Test func recordHasWhatALinkCarried() async throws {
        let stream = FollowedStream(after: "e-5")
        let link = try await stream.link(1)
        #expect(link.field("Last-Event-ID") == "e-5")
        link.open("resumed", at: 3)
        for offset in 4...6 { link.event(offset, "\(offset)") }
        try await stream.reception.wait(forEvents: 1)
        #expect(stream.reception.events == ["6"])
        stream.events.stop()
        #expect(await stream.end() == nil)
        // The end of the body reports the record, which is amended after it.
        await stream.network.flushRecords()
        let record = try #require(stream.records.records.first)
        let opened = try #require(record.decisions.first { $0.name == "streamOpened" })
        #expect(opened.fields["resumedFrom"] == "e-5")
        let closed = try #require(record.decisions.first { $0.name == "streamClosed" })
        #expect(closed.fields["duplicates"] == "2" && closed.fields["events"] == "1")
        #expect(closed.fields["continuity"] == "resumed" && closed.fields["reason"] == "stopped")
        #expect(Int(closed.fields["bytes"] ?? "").map { $0 > 100 } == true)
    }

    @MainActor @Test func cursorFollowsTheReturnOfTheDelegate() async throws {
        let stream = FollowedStream()
        _ = try await stream.openedLink()
        let cursors = MemoryStreamCursorStore()
        let reader = CursorReader(cursors)
        let events = EventStream(News(["a"]), on: stream.network, delegate: reader, cursors: cursors, key: "delegate")
        events.start()
        let link = try await stream.link(2)
        link.open("reset", at: 7)
        for offset in 8...10 { link.event(offset, "\(offset)") }
        try await waitUntil("the events") { reader.stored.count == 3 }
        #expect(reader.stored == ["e-7", "e-8", "e-9"], "each is stored after the delegate has returned")
        try await waitUntil("the last cursor") { cursors.cursor(for: "delegate")?.lastEventID == "e-10" }
        events.stop()
    }

    @MainActor @Test(arguments: [204, 403]) func delegateIsNotifiedOfTheEnd(_ status: Int) async throws {
        let server = FakeEvents()
        server.refuseLink(.init(code: status))
        let network = NetworkLayer(transport: server, pipeline: .tested, status: SettableNetworkStatus())
        network.configure(Newsroom.self) { $0.baseURLs = [.release: "https://news.example"] }
        let reader = CursorReader(MemoryStreamCursorStore())
        let events = EventStream(News(["a"]), on: network, delegate: reader)
        events.start()
        try await waitUntil("the end") { reader.ends.count == 1 }
        #expect(reader.ends.first??.status?.code == (status == 204 ? nil : status))
        #expect(events.state == .ended && (events.error == nil) == (status == 204))
    }
}

/// Writes down which cursor is stored while an event is taken, and how the stream ended.
@MainActor private final class CursorReader: EventStreamDelegate {
    private let cursors: MemoryStreamCursorStore
    private(set) var stored: [String] = []
    private(set) var ends: [NetworkError?] = []

    init(_ cursors: MemoryStreamCursorStore) { self.cursors = cursors }

    func eventStream(_ stream: any EventStreaming, didReceive event: StreamEvent) {
        stored.append(cursors.cursor(for: "delegate")?.lastEventID ?? "")
    }

    func eventStream(_ stream: any EventStreaming, didConnect continuity: StreamContinuity) {}

    func eventStream(_ stream: any EventStreaming, didEndWith error: NetworkError?) { ends.append(error) }
}

/// What an app reads of an event.
struct StreamEventTests {
    private struct Rental: Decodable, Sendable, Equatable {
        var id: Int
    }

    private struct TitleReformer: Reformer {
        struct Untitled: Error {}

        func reform(_ rawData: RawData, from endpoint: any Endpoint) throws -> String {
            guard let title = rawData["title"].string else { throw Untitled() }
            return "\(title) of \(type(of: endpoint).name)"
        }
    }

    private func event(_ data: String) -> StreamEvent {
        StreamEvent(ServerSentEvent(type: "added", data: data, id: "e-1"), of: News())
    }

    @Test func dataIsDecodedFromItsPath() throws {
        #expect(try event(#"{"id":7}"#).decode(Rental.self) == Rental(id: 7))
        #expect(try event(#"{"item":{"new":{"id":8}}}"#).decode(Rental.self, at: "item", "new") == Rental(id: 8))
    }

    @Test(arguments: ["no JSON", "{}", #"{"id":"seven"}"#]) func otherDataIsInvalid(_ data: String) throws {
        let error = #expect(throws: NetworkError.self) { try event(data).decode(Rental.self) }
        #expect(error?.kind == .invalidResponse && error?.rawData?.bytes == Array(data.utf8))
    }

    @Test func reformerConvertsData() throws {
        #expect(try event(#"{"title":"Pier"}"#).reform(with: TitleReformer()) == "Pier of News")
        let error = #expect(throws: NetworkError.self) { try event("{}").reform(with: TitleReformer()) }
        #expect(error?.kind == .invalidResponse && error?.underlying is TitleReformer.Untitled)
    }
}
