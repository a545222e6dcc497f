import HTTPTypes
import Runway
import RunwayTesting
import StreamFixtures
import Testing

@testable import RunwayStreams

/// The topics of a stream for a controller, which outlive its links and its ends.
@MainActor @Suite(.timeLimit(.minutes(5)))
struct EventStreamTopicsTests {
    private let server = FakeEvents()
    private let screen = TopicScreen()

    private func makeStream(
        _ topics: Set<String>? = ["a"], cursors: MemoryStreamCursorStore = MemoryStreamCursorStore()
    ) -> EventStream<News> {
        let network = NetworkLayer(transport: server, pipeline: .tested, status: SettableNetworkStatus())
        network.configure(Newsroom.self) { $0.baseURLs = [.release: "https://news.example"] }
        return EventStream(
            News(topics), on: network, delegate: screen, options: hasty, cursors: cursors, key: "news")
    }

    private func link(_ number: Int) async throws -> FakeLink {
        try await waitUntil("link \(number)") { server.links.count >= number }
        return server.links[number - 1]
    }

    @Test func firstLinkHasTopicsSetBeforeTheStart() async throws {
        let stream = makeStream()
        try await stream.subscribe(to: ["b", "c"])
        try await stream.unsubscribe(from: ["a"])
        #expect(stream.topics == ["b", "c"])
        stream.start()
        #expect(try await link(1).topics == ["b", "c"])
        stream.stop()
    }

    @Test func topicsOutliveAStop() async throws {
        let stream = makeStream()
        stream.start()
        try await link(1).open("reset", at: 7)
        try await waitUntil("the connection") { stream.continuity != nil }
        try await stream.subscribe(to: ["b"])
        stream.stop()
        try await stream.subscribe(to: ["c"])
        #expect(stream.topics == ["a", "b", "c"])
        stream.start()
        #expect(try await link(2).topics == ["a", "b", "c"])
        stream.stop()
    }

    /// A run between two others does not follow a topic, and moves the cursor.
    @Test func topicThatARunSkippedIsReset() async throws {
        let cursors = MemoryStreamCursorStore()
        for (index, continuity) in [StreamContinuity.reset(.first), .resumed, .reset(.topics), .resumed].enumerated() {
            let stream = makeStream(cursors: cursors)
            if index != 1 { try await stream.subscribe(to: ["b"]) }
            stream.start()
            let link = try await link(index + 1)
            #expect(link.topics == (index == 1 ? ["a"] : ["a", "b"]))
            #expect(link.field("Last-Event-ID") == (index == 0 ? "" : "e-\(index * 100)"))
            link.open(index == 0 ? "reset" : "resumed", at: index * 100)
            link.event(index * 100 + 100, "event")
            let place = "e-\(index * 100 + 100)"
            try await waitUntil("the place") { cursors.cursor(for: "news")?.lastEventID == place }
            #expect(stream.continuity == continuity && cursors.cursor(for: "news")?.topics == link.topics)
            stream.stop()
        }
    }

    @Test func topicsOutliveAnEnd() async throws {
        let stream = makeStream()
        server.refuseLink(.forbidden)
        stream.start()
        try await stream.subscribe(to: ["b"])
        try await waitUntil("the end") { stream.state == .ended }
        stream.start()
        #expect(try await link(1).topics == ["a", "b"])
        stream.stop()
    }

    @Test func topicsThatTheServerChoosesAreNotChanged() async throws {
        let stream = makeStream(nil)
        let error = await #expect(throws: NetworkError.self) { try await stream.subscribe(to: ["b"]) }
        #expect(error?.kind == .invalidParameters && stream.topics == nil)
    }

    @Test func delegateIsNotifiedOfLostTopics() async throws {
        let stream = makeStream(["a", "staff"])
        stream.start()
        let first = try await link(1)
        first.open("reset", at: 7)
        try await waitUntil("the connection") { stream.continuity != nil && stream.state == .open }
        server.loseTopics(["staff"])
        stream.resume()
        try await waitUntil("the loss") { stream.refusedTopics == ["staff"] }
        first.end()
        try await link(2).open("resumed", at: 7)
        try await waitUntil("the return") { stream.continuity == .reset(.topics) }
        #expect(screen.refused == [["staff"], []])
        stream.stop()
    }

    @Test func unsubscribedTopicIsNotRefusedAnyMore() async throws {
        let stream = makeStream(["a", "staff"])
        stream.start()
        try await link(1).open("reset", at: 7, refusing: ["staff"])
        try await waitUntil("the refusal") { stream.refusedTopics == ["staff"] }
        try await stream.unsubscribe(from: ["staff"])
        try await waitUntil("the notice") { screen.refused == [["staff"], []] }
        #expect(stream.refusedTopics.isEmpty)
        stream.stop()
    }

    @Test func topicUnsubscribedAfterAStopIsNotRefused() async throws {
        let stream = makeStream(["a", "staff"])
        stream.start()
        try await link(1).open("reset", at: 7, refusing: ["staff"])
        try await waitUntil("the refusal") { stream.refusedTopics == ["staff"] }
        stream.stop()
        try await stream.unsubscribe(from: ["staff"])
        #expect(stream.refusedTopics.isEmpty && screen.refused == [["staff"]])
    }

    @Test func topicUnsubscribedAfterAnEndIsReported() async throws {
        let stream = makeStream(["a", "staff"])
        stream.start()
        let first = try await link(1)
        first.open("reset", at: 7, refusing: ["staff"])
        try await waitUntil("the refusal") { stream.refusedTopics == ["staff"] }
        server.refuseLink(.forbidden)
        first.end()
        try await waitUntil("the end") { stream.state == .ended }
        try await stream.unsubscribe(from: ["staff"])
        #expect(stream.refusedTopics.isEmpty && screen.refused == [["staff"], []])
    }

    /// A refusal after a stop holds for the next start. It does not change a stream that was started again meanwhile,
    /// which may be of another account.
    @Test(arguments: [false, true]) func lateRefusalChangesOnlyAStoppedStream(_ startsAgain: Bool) async throws {
        let gate = ScriptedGate()
        let stream = makeStream()
        stream.start()
        try await link(1).open("reset", at: 7)
        try await waitUntil("the connection") { stream.continuity != nil }
        server.holdChanges(at: gate)
        server.refuseChange(.forbidden)
        let adding = Task { try await stream.subscribe(to: ["staff"]) }
        try await gate.waitForArrivals()
        stream.stop()
        #expect(stream.topics == ["a", "staff"])
        if startsAgain {
            stream.start()
            #expect(try await link(2).topics == ["a", "staff"])
        }
        gate.open()
        let error = await #expect(throws: NetworkError.self) { try await adding.value }
        let expected: Set<String> = startsAgain ? ["a", "staff"] : ["a"]
        #expect(error?.status == .forbidden && stream.topics == expected)
        stream.stop()
    }
}

/// Writes down which topics are refused.
@MainActor private final class TopicScreen: EventStreamDelegate {
    private(set) var refused: [Set<String>] = []

    func eventStream(_ stream: any EventStreaming, didReceive event: StreamEvent) {}
    func eventStream(_ stream: any EventStreaming, didConnect continuity: StreamContinuity) {}
    func eventStream(_ stream: any EventStreaming, didChangeRefusedTopics topics: Set<String>) {
        refused.append(topics)
    }
    func eventStream(_ stream: any EventStreaming, didEndWith error: NetworkError?) {}
}
