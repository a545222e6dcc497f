import Foundation
import HTTPTypes
import Runway
import RunwayTesting
import StreamFixtures
import Testing

@testable import RunwayStreams

/// Topics that come and go, on connections that fail.
@Suite(.timeLimit(.minutes(5)))
struct TopicChangeTests {
    @Test func topicAddedWhileALinkOpensMissesNothing() async throws {
        let gate = ScriptedGate()
        let stream = FollowedStream { $0.holdLinks(at: gate) }
        try await gate.waitForArrivals()
        try await stream.events.subscribe(to: ["b"])
        gate.open()
        let first = try await stream.link(1)
        #expect(first.topics == ["a"])
        first.open("reset", at: 7)
        // The link does not have the event 8, which is of the other topic.
        first.event(9, "nine")
        let second = try await stream.link(2)
        #expect(second.topics == ["a", "b"] && second.field("Last-Event-ID") == "e-7")
        second.open("resumed", at: 7)
        second.event(8, "eight", topic: "b")
        second.event(9, "nine")
        try await stream.reception.wait(forEvents: 2)
        #expect(stream.reception.log == ["reset: first", "resumed", "eight", "nine"])
        #expect(stream.server.changes.isEmpty)
    }

    @Test func serverWithoutTopicChangesGetsANewLink() async throws {
        let stream = FollowedStream { $0.setFields(["Runway-Stream": ""]) }
        let first = try await stream.link(1)
        first.send("id: 7\ndata: seven\n\n")
        try await stream.reception.wait(forEvents: 1)
        try await stream.events.unsubscribe(from: ["c"])
        try await stream.events.subscribe(to: ["b"])
        let second = try await stream.link(2)
        #expect(second.topics == ["a", "b"] && second.field("Last-Event-ID") == "7")
        second.send("id: 8\ndata: eight\n\n")
        try await stream.reception.wait(forEvents: 2)
        #expect(stream.server.changes.isEmpty && stream.server.links.count == 2)
    }

    @Test(arguments: [404, 500, 503]) func failedChangeReplacesTheLink(_ status: Int) async throws {
        let stream = FollowedStream()
        let first = try await stream.openedLink()
        stream.server.refuseChange(.init(code: status))
        try await stream.events.subscribe(to: ["b"])
        first.event(9, "nine")
        let second = try await stream.link(2)
        #expect(second.topics == ["a", "b"] && second.field("Last-Event-ID") == "e-7")
        second.open("resumed", at: 7)
        second.event(8, "eight", topic: "b")
        try await stream.reception.wait(forEvents: 1)
        #expect(stream.reception.events == ["eight"])
    }

    @Test(arguments: [400, 403]) func refusedTopicIsNotWantedAnyMore(_ status: Int) async throws {
        let stream = FollowedStream()
        let first = try await stream.openedLink()
        stream.server.refuseChange(.init(code: status))
        let error = await #expect(throws: NetworkError.self) { try await stream.events.subscribe(to: ["staff"]) }
        #expect(error?.status?.code == status)
        #expect(stream.events.topics == ["a"])
        first.event(8, "eight")
        try await stream.reception.wait(forEvents: 1)
        first.end()
        #expect(try await stream.link(2).topics == ["a"])
    }

    @Test func topicRefusedAtTheOpeningLeavesTheOthers() async throws {
        let stream = FollowedStream(["a", "staff"])
        let first = try await stream.link(1)
        first.open("reset", at: 7, refusing: ["staff"])
        first.event(8, "eight")
        try await stream.reception.wait(forEvents: 1)
        #expect(stream.events.refusedTopics == ["staff"] && stream.events.topics == ["a", "staff"])
        first.end()
        let second = try await stream.link(2)
        #expect(second.topics == ["a", "staff"], "the permission may have come back")
        second.open("resumed", at: 8)
        try await stream.reception.wait(forConnections: 2)
        #expect(stream.events.refusedTopics.isEmpty)
        #expect(stream.reception.log == ["reset: first", "eight", "reset: topics"], "the place has passed events by")
        second.end()
        try await stream.link(3).open("resumed", at: 8)
        try await stream.reception.wait(forConnections: 3)
        #expect(stream.reception.continuities.last == .resumed)
    }

    @Test func topicThatStaysRefusedResumes() async throws {
        let stream = FollowedStream(["a", "staff"])
        for number in 1...2 {
            let link = try await stream.link(number)
            link.open(number == 1 ? "reset" : "resumed", at: 7, refusing: ["staff"])
            try await stream.reception.wait(forConnections: number)
            link.end()
        }
        #expect(stream.reception.continuities == [.reset(.first), .resumed])
    }

    @Test func topicReturnsAfterTheAppStartsAgain() async throws {
        let stream = FollowedStream(["a", "staff"], after: "e-7", without: ["staff"])
        try await stream.link(1).open("resumed", at: 7)
        try await stream.reception.wait(forConnections: 1)
        #expect(stream.reception.continuities == [.reset(.topics)])
    }

    @Test func wantedTopicOutsideTheCursorDoesNotResume() async throws {
        let stream = FollowedStream(["a", "b"], after: "e-7", of: ["a"])
        let first = try await stream.link(1)
        first.open("resumed", at: 7, refusing: ["b"])
        try await stream.reception.wait(forConnections: 1)
        first.end()
        let second = try await stream.link(2)
        second.open("resumed", at: 7)
        try await stream.reception.wait(forConnections: 2)
        second.end()
        try await stream.link(3).open("resumed", at: 7)
        try await stream.reception.wait(forConnections: 3)
        #expect(stream.reception.continuities == [.resumed, .reset(.topics), .resumed])
    }

    @Test func serversOwnChoiceDoesNotResumeNamedTopics() async throws {
        let stream = FollowedStream(nil, after: "e-7", of: ["a"])
        try await stream.link(1).open("resumed", at: 7)
        try await stream.reception.wait(forConnections: 1)
        #expect(stream.reception.continuities == [.reset(.topics)])
    }

    @Test func plainLinkResetsForTopicsOutsideTheCursor() async throws {
        let stream = FollowedStream(["a", "b"], after: "7", of: ["a"]) { $0.setFields(["Runway-Stream": ""]) }
        let first = try await stream.link(1)
        try await stream.reception.wait(forConnections: 1)
        first.end()
        _ = try await stream.link(2)
        try await stream.reception.wait(forConnections: 2)
        #expect(stream.reception.continuities == [.reset(.topics), .resumed])
    }

    @Test func topicAddedBeforeALinkIsReset() async throws {
        let gate = ScriptedGate()
        let stream = FollowedStream(after: "e-7", of: ["a"]) { $0.holdLinks(at: gate) }
        try await gate.waitForArrivals()
        try await stream.events.subscribe(to: ["b"])
        gate.open()
        // This link does not have the topic, and is replaced.
        try await stream.link(1).open("resumed", at: 7)
        try await stream.link(2).open("resumed", at: 7)
        try await stream.reception.wait(forConnections: 2)
        #expect(stream.reception.continuities == [.resumed, .reset(.topics)])
    }

    @Test func cursorRemembersTopics() throws {
        let cursor = StreamCursor(
            stream: "news", lastEventID: "e-7", topics: ["a", "staff"], refusedTopics: ["staff"])
        let stored = try JSONEncoder().encode(cursor)
        #expect(try JSONDecoder().decode(StreamCursor.self, from: stored) == cursor)
        let early = Data(#"{"stream":"news","lastEventID":"e-7"}"#.utf8)
        #expect(
            try JSONDecoder().decode(StreamCursor.self, from: early)
                == StreamCursor(stream: "news", lastEventID: "e-7", topics: nil, refusedTopics: []))
    }

    @Test func probeTellsOfLostTopics() async throws {
        let stream = FollowedStream(["a", "staff"])
        let first = try await stream.openedLink()
        try await waitUntil("the open link") { stream.events.state == .open }
        stream.server.loseTopics(["staff", "unknown"])
        // The app comes to the foreground.
        stream.events.resume()
        try await waitUntil("the loss") { stream.events.refusedTopics == ["staff"] }
        #expect(stream.events.topics == ["a", "staff"] && stream.server.changes == [.init()])
        first.end()
        try await stream.link(2).open("resumed", at: 7)
        try await stream.reception.wait(forConnections: 2)
        #expect(stream.reception.continuities.last == .reset(.topics))
    }

    @Test(arguments: [HTTPResponse.Status.ok, .forbidden, .badRequest])
    func anyResponseToAChangeReportsLostTopics(_ status: HTTPResponse.Status) async throws {
        let stream = FollowedStream(["a", "staff"])
        _ = try await stream.openedLink()
        stream.server.loseTopics(["staff"])
        if status != .ok { stream.server.refuseChange(status) }
        try? await stream.events.subscribe(to: ["b"])
        #expect(stream.events.refusedTopics == ["staff"])
        #expect(stream.events.topics == (status == .ok ? ["a", "b", "staff"] : ["a", "staff"]))
        // It is asked for again, since the connection does not have it.
        stream.server.loseTopics([])
        try await stream.events.subscribe(to: ["staff"])
        #expect(stream.events.refusedTopics.isEmpty && stream.server.changes.last == .init(added: ["staff"]))
    }

    @Test func changesReachTheServerInTheirOrder() async throws {
        let gate = ScriptedGate()
        let stream = FollowedStream()
        _ = try await stream.openedLink()
        stream.server.holdChanges(at: gate)
        let removing = Task { try await stream.events.unsubscribe(from: ["a"]) }
        try await gate.waitForArrivals()
        let adding = Task { try await stream.events.subscribe(to: ["a"]) }
        try await waitUntil("the second change") { stream.events.topics == ["a"] }
        let more = Task { try await stream.events.subscribe(to: ["b"]) }
        try await waitUntil("the third change") { stream.events.topics == ["a", "b"] }
        #expect(gate.arrivalCount == 1, "one change at a time")
        gate.open()
        for task in [removing, adding, more] { try await task.value }
        #expect(stream.server.changes == [.init(removed: ["a"]), .init(added: ["a"]), .init(added: ["b"])])
    }

    @Test func confirmedTopicIsNotSentAgain() async throws {
        let stream = FollowedStream()
        _ = try await stream.openedLink()
        for _ in 0..<2 { try await stream.events.subscribe(to: ["a", "b"]) }
        #expect(stream.server.changes == [.init(added: ["b"])])
    }

    @Test func topicRemovedWhileOpeningIsRemovedOnceOpen() async throws {
        let gate = ScriptedGate()
        let stream = FollowedStream(["a", "b"]) { $0.holdLinks(at: gate) }
        try await gate.waitForArrivals()
        try await stream.events.unsubscribe(from: ["b"])
        gate.open()
        _ = try await stream.openedLink()
        try await waitUntil("the change") { stream.server.changes == [.init(removed: ["b"])] }
        #expect(stream.server.links.count == 1)
    }

    @Test func cancelledWaitLeavesTheChange() async throws {
        let gate = ScriptedGate()
        let stream = FollowedStream()
        _ = try await stream.openedLink()
        stream.server.holdChanges(at: gate)
        let adding = Task { try await stream.events.subscribe(to: ["b"]) }
        try await gate.waitForArrivals()
        adding.cancel()
        let error = await #expect(throws: NetworkError.self) { try await adding.value }
        #expect(error?.kind == .cancelled && stream.events.topics == ["a", "b"])
        gate.open()
        try await stream.events.subscribe(to: ["c"])
        #expect(stream.server.changes == [.init(added: ["b"]), .init(added: ["c"])])
    }

    @Test func changesThatWaitForALostLinkEnd() async throws {
        let gate = ScriptedGate()
        let stream = FollowedStream()
        let first = try await stream.openedLink()
        stream.server.holdChanges(at: gate)
        stream.server.refuseChange(.serviceUnavailable)
        let adding = ["b", "c"].map { topic in Task { try await stream.events.subscribe(to: [topic]) } }
        try await gate.waitForArrivals()
        try await waitUntil("both changes") { stream.events.topics == ["a", "b", "c"] }
        first.end()
        let second = try await stream.link(2)
        #expect(second.topics == ["a", "b", "c"])
        gate.open()
        for task in adding { try await task.value }
        #expect(stream.server.changes.count == 1)
    }
}
