import RunwayTesting
import Synchronization
import Testing

@testable import RunwayServer

/// Who is present, on a virtual clock.
struct PresenceTests {
    private func change(_ topic: String, _ member: String, _ isPresent: Bool) -> PresenceChange {
        PresenceChange(topic: topic, member: member, isPresent: isPresent)
    }

    private func presence(upTo count: Int = 100) -> Presence { Presence(grace: .seconds(30), maximumCount: count) }

    @Test func memberJoinsWithTheFirstConnection() {
        var presence = presence()
        presence.follow(["a", "b"], by: "1", of: "ada", at: .zero)
        #expect(presence.changes(at: 0) == [change("a", "ada", true), change("b", "ada", true)])
        presence.follow(["a"], by: "2", of: "ada", at: .zero)
        #expect(presence.changes(at: 0).isEmpty)
        #expect(presence.members(of: "a") == ["ada"] && presence.deadline == nil)
    }

    @Test func memberLeavesAGraceAfterTheLastConnection() {
        var presence = presence()
        presence.follow(["a"], by: "1", of: "ada", at: .zero)
        presence.follow(["a"], by: "2", of: "ada", at: .zero)
        #expect(presence.changes(at: 0).count == 1)
        presence.end("1", at: .seconds(10))
        #expect(presence.deadline == nil, "there is another connection")
        presence.end("2", at: .seconds(20))
        presence.end("2", at: .seconds(40))
        #expect(presence.deadline == .seconds(50))
        #expect(presence.changes(at: 49).isEmpty && presence.members(of: "a") == ["ada"])
        #expect(presence.changes(at: 50) == [change("a", "ada", false)])
        #expect(presence.members(of: "a").isEmpty && presence.deadline == nil && presence.count == 0)
    }

    @Test func connectionThatComesBackInTimeChangesNothing() {
        var presence = presence()
        presence.follow(["a"], by: "1", of: "ada", at: .zero)
        #expect(presence.changes(at: 0).count == 1)
        presence.end("1", at: .seconds(10))
        presence.follow(["a"], by: "2", of: "ada", at: .seconds(39))
        #expect(presence.changes(at: 1000).isEmpty && presence.members(of: "a") == ["ada"])
        presence.end("2", at: .seconds(1000))
        #expect(presence.changes(at: 1030).count == 1)
    }

    @Test func unfollowedTopicIsLeft() {
        var presence = presence()
        presence.follow(["a", "b"], by: "1", of: "ada", at: .zero)
        #expect(presence.changes(at: 0).count == 2)
        presence.follow(["b", "c"], by: "1", of: "ada", at: .seconds(5))
        #expect(presence.changes(at: 5) == [change("c", "ada", true)])
        #expect(presence.changes(at: 35) == [change("a", "ada", false)])
        #expect(presence.members(of: "b") == ["ada"])
    }

    @Test func topicsOfAMemberHaveABound() {
        var presence = Presence(grace: .seconds(30), maximumCount: 100, maximumTopicCount: 2)
        presence.follow(["a", "b", "c"], by: "1", of: "ada", at: .zero)
        #expect(presence.changes(at: 0).count == 2)
        presence.follow(["c"], by: "2", of: "ada", at: .zero)
        #expect(presence.changes(at: 0).isEmpty)
        presence.follow(["c"], by: "3", of: "bob", at: .zero)
        #expect(presence.changes(at: 0) == [change("c", "bob", true)])
        presence.end("1", at: .zero)
        #expect(presence.changes(at: 30).count == 2)
        presence.follow(["d"], by: "4", of: "ada", at: .seconds(30))
        #expect(presence.changes(at: 30) == [change("d", "ada", true)])
    }

    @Test func membersHaveABound() {
        var presence = presence(upTo: 2)
        presence.follow(["a", "b", "c"], by: "1", of: "ada", at: .zero)
        presence.follow(["a"], by: "2", of: "bob", at: .zero)
        #expect(presence.changes(at: 0) == [change("a", "ada", true), change("b", "ada", true)])
        presence.end("1", at: .zero)
        #expect(presence.changes(at: 30).count == 2 && presence.count == 0)
        presence.follow(["a"], by: "3", of: "eve", at: .seconds(30))
        #expect(presence.changes(at: 30) == [change("a", "eve", true)])
        presence.end("2", at: .seconds(30))
        #expect(presence.members(of: "a") == ["eve"])
    }

    @Test func memberIsPresentUntilTheLeaveIsPublished() {
        var presence = presence()
        for member in ["ada", "bob"] { presence.follow(["a"], by: member, of: member, at: .zero) }
        #expect(presence.changes(at: 0).count == 2)
        for (time, member) in ["bob", "ada"].enumerated() { presence.end(member, at: .seconds(time)) }
        #expect(presence.nextChanges(at: .seconds(100), upTo: 1) == [change("a", "bob", false)])
        #expect(presence.members(of: "a") == ["ada"] && presence.deadline == .seconds(31))
        presence.follow(["a"], by: "3", of: "ada", at: .seconds(100))
        #expect(presence.changes(at: 100).isEmpty, "she is back before that was published")
    }

    @Test func unpublishedMemberLeavesUnpublished() {
        var presence = presence()
        presence.follow(["a"], by: "1", of: "ada", at: .zero)
        #expect(presence.members(of: "a").isEmpty)
        presence.end("1", at: .zero)
        #expect(presence.changes(at: 30).isEmpty && presence.members(of: "a").isEmpty)
    }

    @Test func rejoinPublishesAllMembersAgain() {
        var presence = presence()
        presence.follow(["a", "b"], by: "1", of: "ada", at: .zero)
        #expect(presence.nextChanges(at: .zero, upTo: 1).count == 1)
        presence.rejoin()
        #expect(Set(presence.changes(at: 0)) == [change("a", "ada", true), change("b", "ada", true)])
    }

    @Test func laterSecondsOffsetExcessChanges() {
        var presence = Presence(grace: .seconds(30), maximumCount: 100, maximumRate: 10)
        presence.follow(["a"], by: "1", of: "ada", at: .zero)
        #expect(presence.hasChanges(at: .zero))
        presence.didPublish(25)
        presence.beginSecond()
        #expect(presence.allowance == -5 && !presence.hasChanges(at: .zero))
        presence.beginSecond()
        #expect(presence.allowance == 5 && presence.hasChanges(at: .zero))
        presence.beginSecond()
        #expect(presence.allowance == 10, "what is not used is not saved up")
    }

    @Test func greatestRateHasNoOverflow() {
        var presence = Presence(grace: .seconds(30), maximumCount: 100, maximumRate: .max)
        presence.beginSecond()
        #expect(presence.allowance == .max)
        presence.didPublish(1)
        presence.beginSecond()
        #expect(presence.allowance == .max)
    }

    @Test func unpublishedChangesAreRestored() {
        var presence = presence()
        for member in ["ada", "bob", "eve"] { presence.follow(["a"], by: member, of: member, at: .zero) }
        let joins = presence.changes(at: 0)
        presence.restore(joins, at: .zero)
        #expect(presence.members(of: "a").isEmpty)
        #expect(presence.changes(at: 0) == joins)
        for member in ["ada", "bob"] { presence.end(member, at: .zero) }
        let leaves = presence.changes(at: 30)
        // She is back while that is being stored.
        presence.follow(["a"], by: "ada", of: "ada", at: .seconds(30))
        presence.restore(leaves, at: .seconds(31))
        #expect(presence.members(of: "a").sorted() == ["ada", "bob", "eve"] && presence.count == 3)
        #expect(presence.changes(at: 60).isEmpty)
        #expect(presence.changes(at: 61) == [change("a", "bob", false)])
    }

    @Test(.timeLimit(.minutes(5))) func deadlineIsReadWithoutASearch() {
        var presence = Presence(grace: .seconds(30), maximumCount: 20_000)
        let topics = Set((0..<1000).map { "\($0)" })
        for member in 0..<20 { presence.follow(topics, by: "\(member)", of: "\(member)", at: .zero) }
        presence.end("0", at: .seconds(1))
        var count = 0
        for _ in 0..<250_000 where presence.deadline == .seconds(31) { count += 1 }
        #expect(count == 250_000)
    }

    @Test func nobodyIsPresentInAnInvalidTopic() async throws {
        let server = try await HubUnderTest(MemoryEventLog()) { $0.presenceGrace = .seconds(30) }
        let connection = EventConnection(
            id: "1", source: "", owner: "ada", topics: ["sport", "a b"], heartbeat: .seconds(25), endTime: nil,
            epoch: server.hub.epoch, maximumByteCount: 1 << 20, at: .zero)
        try server.hub.open(connection)
        #expect(server.hub.goLive(connection))
        try await waitUntil("the event is stored") { try await server.hub.present(in: "sport") == ["ada"] }
        #expect(try await server.hub.present(in: "a b").isEmpty)
        connection.finish(.disconnected)
        server.hub.close(connection)
    }
}

/// How a hub over a log of its own publishes that many members join and leave at once, on a virtual clock.
@Suite(.timeLimit(.minutes(10)))
struct PresenceRateTests {
    /// A log that stores nothing before its gate is open.
    private struct GatedLog: EventLog {
        let gate = ScriptedGate()
        private let log = MemoryEventLog()

        func range() -> EventLogRange { log.range() }
        func append(_ events: [PublishedEvent]) async throws -> EventLogRange {
            try await gate.pass()
            return log.append(events)
        }
        func events(after offset: Int64, upTo count: Int) -> (first: Int64, events: [PublishedEvent]) {
            log.events(after: offset, upTo: count)
        }
    }

    /// A log whose next append fails.
    private final class FailingLog: EventLog {
        struct Failed: Error {}

        var failsNext: Bool { isBroken.load(ordering: .relaxed) }
        private let isBroken = Atomic(true)
        private let log = MemoryEventLog()

        func failNext() { isBroken.store(true, ordering: .relaxed) }
        func range() -> EventLogRange { log.range() }
        func append(_ events: [PublishedEvent]) throws -> EventLogRange {
            if isBroken.exchange(false, ordering: .relaxed) { throw Failed() }
            return log.append(events)
        }
        func events(after offset: Int64, upTo count: Int) -> (first: Int64, events: [PublishedEvent]) {
            log.events(after: offset, upTo: count)
        }
    }

    /// Lets seconds pass, and waits for what is stored after each.
    private func pass(seconds count: Int, at server: HubUnderTest) async throws {
        for _ in 0..<count {
            try await server.passSecond()
            try await waitUntil("the events are stored") { !server.hub.state.withLock { $0.isWriting } }
        }
    }

    @Test func outageEvictsNoEventsOfTheApp() async throws {
        let log = MemoryEventLog(maximumCount: 1000)
        let server = try await HubUnderTest(log) {
            $0.presenceGrace = .seconds(5)
            $0.maximumPresenceEventsPerSecond = 20
        }
        // A hub checks its members each second only while it has connections.
        let visitor = try await server.open()
        try await server.publish("goal")
        server.hub.join(memberCount: 400)
        try await pass(seconds: 20, at: server)
        #expect(log.range().last == 401)
        server.hub.loseMembers()
        try await pass(seconds: 14, at: server)
        #expect(log.range().last == 601, "from the fifth second on")
        #expect(try await server.hub.present(in: "sport").count == 200)
        server.hub.join(memberCount: 400)
        try await pass(seconds: 30, at: server)
        #expect(log.range().last == 801, "half of them were back in time")
        #expect(log.range().first == 1)
        visitor.disconnect()
    }

    @Test func failedAppendLosesNoChange() async throws {
        let log = FailingLog()
        let server = try await HubUnderTest(log) { $0.presenceGrace = .seconds(5) }
        let visitor = try await server.open()
        server.hub.join(memberCount: 3)
        try await pass(seconds: 1, at: server)
        #expect(log.range().last == 3 && !log.failsNext)
        log.failNext()
        server.hub.loseMembers()
        try await pass(seconds: 5, at: server)
        #expect(try await server.hub.present(in: "sport").count == 3)
        #expect(log.range().last == 3 && !log.failsNext)
        try await pass(seconds: 5, at: server)
        #expect(log.range().last == 6)
        #expect(try await server.hub.present(in: "sport").isEmpty)
        visitor.disconnect()
    }

    @Test func presenceUsesNoPendingSlotOfTheApp() async throws {
        let log = GatedLog()
        let server = try await HubUnderTest(log) {
            $0.presenceGrace = .seconds(5)
            $0.maximumPendingEvents = 10
        }
        let visitor = try await server.open()
        server.hub.join(memberCount: 2000)
        try await server.passSecond()
        try await log.gate.waitForArrivals()
        server.hub.loseMembers()
        for _ in 0..<10 { try await server.passSecond() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...10 { group.addTask { try await server.publish("\(number)") } }
            try await waitUntil("the events") { server.hub.state.withLock { $0.pending.count } == 10 }
            log.gate.open()
            try await group.waitForAll()
        }
        visitor.disconnect()
    }
}

extension Presence {
    /// Everything that there is to publish.
    fileprivate mutating func changes(at seconds: Int) -> [PresenceChange] {
        nextChanges(at: .seconds(seconds), upTo: 1000)
    }
}

extension EventHub {
    /// Members of one topic join, each with a connection.
    func join(memberCount count: Int) {
        state.withLock { state in
            for number in 0..<count {
                state.presence?.follow(["sport"], by: "\(number)", of: "m\(number)", at: clock.now)
            }
        }
    }

    /// All these connections end.
    func loseMembers() {
        state.withLock { state in
            for number in 0..<2000 { state.presence?.end("\(number)", at: clock.now) }
        }
    }
}
