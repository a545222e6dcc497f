import RunwayTesting
import Synchronization
import Testing

@testable import RunwayServer

/// Who is present at several hubs over one log, on virtual clocks: those of the hubs, and that of the log.
@Suite(.timeLimit(.minutes(10)))
struct SharedPresenceTests {
    private let log = TestedEventLog()

    private func server() async throws -> HubUnderTest {
        try await HubUnderTest(log) { $0.presenceGrace = .seconds(30) }
    }

    private func follow(_ server: HubUnderTest, as owner: String, reads: Bool = true) async throws -> HubClient {
        let client = try await server.open("/news?topics=sport", as: EventPermission(owner: owner), reads: reads)
        if reads { try await client.waitUntilLive() }
        return client
    }

    /// Who has joined (`+`) and left (`-`), in the order of the log.
    private func changes() async throws -> [String] {
        try await log.events(after: 0, upTo: 1000).events.map { event in
            let member = event.data.firstMatch(of: /"member":"(\w+)"/)?.1 ?? ""
            return event.data.contains(#""isPresent":true"#) ? "+\(member)" : "-\(member)"
        }
    }

    /// Lets seconds pass at a hub, and waits for what it records after each.
    private func pass(seconds count: Int, at server: HubUnderTest) async throws {
        for _ in 0..<count {
            try await server.passSecond()
            try await waitUntil("the recording") {
                server.hub.state.withLock { $0.sharedPresence?.isRecording == false }
            }
        }
    }

    @Test func everyHubReturnsTheMembersOfAll() async throws {
        let (first, second) = (try await server(), try await server())
        let (anna, ben) = (try await follow(first, as: "anna"), try await follow(second, as: "ben"))
        for server in [first, second] { try await pass(seconds: 1, at: server) }
        #expect(try await changes().sorted() == ["+anna", "+ben"])
        for server in [first, second] {
            #expect(try await server.hub.present(in: "sport") == ["anna", "ben"])
            #expect(try await server.hub.present(in: "sport", upTo: 1) == ["anna"])
            #expect(server.hub.runID == log.range().epoch)
        }
        let run = #""run":"\#(log.range().epoch)""#
        for client in [anna, ben] {
            try await client.wait(for: #"{"member":"anna","isPresent":true,\#(run)}"#)
            try await client.wait(for: #"{"member":"ben","isPresent":true,\#(run)}"#)
        }
    }

    @Test func memberJoinsOnceTheReplayHasEnded() async throws {
        let server = try await server()
        let anna = try await follow(server, as: "anna", reads: false)
        try await anna.waitForWrite()
        let ben = try await follow(server, as: "ben")
        try await pass(seconds: 1, at: server)
        #expect(try await changes() == ["+ben"])
        anna.read()
        try await anna.waitUntilLive()
        try await pass(seconds: 1, at: server)
        #expect(try await changes() == ["+ben", "+anna"])
        try await ben.wait(for: #""member":"anna""#)
    }

    @Test func killedHubLosesItsMembersAfterTheLease() async throws {
        let (killed, server) = (try await server(), try await server())
        let anna = try await follow(killed, as: "anna")
        try await pass(seconds: 1, at: killed)
        #expect(try await changes() == ["+anna"])
        // Nothing happens in the killed process from now on, whose lease lasts for the grace period and 15 seconds.
        log.clock.advance(by: .seconds(44))
        let ben = try await follow(server, as: "ben")
        try await pass(seconds: 1, at: server)
        #expect(try await changes() == ["+anna", "+ben"])
        log.clock.advance(by: .seconds(1))
        try await pass(seconds: 5, at: server)
        #expect(try await changes() == ["+anna", "+ben", "-anna"])
        #expect(try await server.hub.present(in: "sport") == ["ben"])
        try await ben.wait(for: #"{"member":"anna","isPresent":false"#)
        // It was only suspended: it finds that its lease has ended, and begins another one.
        try await pass(seconds: 5, at: killed)
        #expect(killed.hub.state.withLock { $0.sharedPresence?.lease } == nil)
        try await pass(seconds: 5, at: killed)
        #expect(try await changes() == ["+anna", "+ben", "-anna", "+anna"])
        try await anna.wait(for: #"{"member":"anna","isPresent":false"#)
    }

    @Test func memberWhoMovesWithinTheGraceStays() async throws {
        let (first, second) = (try await server(), try await server())
        // A hub checks its members each second only while it has connections.
        let visitor = try await first.open()
        // It receives the events from the opening of its stream on.
        try await visitor.waitUntilLive()
        let (anna, dora) = (try await follow(first, as: "anna"), try await follow(first, as: "dora"))
        try await pass(seconds: 1, at: first)
        #expect(try await changes().sorted() == ["+anna", "+dora"])
        for client in [anna, dora] {
            client.disconnect()
            await client.end()
        }
        let (again, ben) = (try await follow(second, as: "anna"), try await follow(second, as: "ben"))
        try await pass(seconds: 1, at: second)
        #expect(try await changes().dropFirst(2) == ["+ben"], "anna is back in time")
        try await pass(seconds: 30, at: first)
        #expect(try await changes().dropFirst(2) == ["+ben", "-dora"])
        #expect(try await second.hub.present(in: "sport") == ["anna", "ben"])
        for client in [visitor, ben] { try await client.wait(for: #"{"member":"dora","isPresent":false"#) }
        #expect(!again.text.contains(#"{"member":"anna""#))
    }

    @Test func leaseIsRenewedThoughNothingChanges() async throws {
        let server = try await server()
        let anna = try await follow(server, as: "anna")
        try await pass(seconds: 1, at: server)
        #expect(try await changes() == ["+anna"])
        for round in 1...4 {
            log.clock.advance(by: .seconds(40))
            try await pass(seconds: 5, at: server)
            #expect(log.leaseEnds == [ManualClock.Instant(offset: .seconds(40 * round + 45))])
        }
        #expect(try await changes() == ["+anna"])
        anna.disconnect()
    }

    @Test func memberJoinsAtOnceAfterAQuietTime() async throws {
        let server = try await server()
        let anna = try await follow(server, as: "anna")
        try await pass(seconds: 1, at: server)
        anna.disconnect()
        await anna.end()
        try await pass(seconds: 30, at: server)
        #expect(try await changes() == ["+anna", "-anna"])
        server.clock.advance(by: .seconds(1))
        try await waitUntil("the hub to have nothing to do") {
            server.hub.state.withLock { !$0.isTicking && $0.sharedPresence?.isRecording == false }
        }
        // Its lease ends, since nothing renews it.
        for clock in [server.clock, log.clock] { clock.advance(by: .seconds(45)) }
        let ben = try await follow(server, as: "ben")
        try await pass(seconds: 1, at: server)
        #expect(try await changes() == ["+anna", "-anna", "+ben"])
        ben.disconnect()
    }

    @Test func failedRecordingPublishesNobodyTwice() async throws {
        let server = try await server()
        let anna = try await follow(server, as: "anna")
        try await pass(seconds: 1, at: server)
        log.change(to: .failing)
        try await pass(seconds: 5, at: server)
        log.change(to: .responding)
        log.clock.advance(by: .seconds(44))
        try await pass(seconds: 5, at: server)
        #expect(log.leaseEnds == [45, 89].map { ManualClock.Instant(offset: .seconds($0)) })
        log.clock.advance(by: .seconds(1))
        try await pass(seconds: 5, at: server)
        #expect(log.leaseEnds.count == 1, "the former lease has ended")
        #expect(try await changes() == ["+anna"])
        anna.disconnect()
    }

    @Test func anOutageIsRecordedAtALimitedRate() async throws {
        let server = try await HubUnderTest(log) {
            $0.presenceGrace = .seconds(5)
            $0.maximumPresenceEventsPerSecond = 50
        }
        let visitor = try await server.open()
        server.hub.join(memberCount: 2000)
        // The first step has 256 changes, which count in the following seconds.
        try await pass(seconds: 20, at: server)
        #expect((900...1256).contains(log.range().last))
        try await pass(seconds: 25, at: server)
        #expect(log.range().last == 2000)
        server.hub.loseMembers()
        try await pass(seconds: 24, at: server)
        #expect((2900...3256).contains(log.range().last))
        visitor.disconnect()
    }

    @Test func membersOfEndedLeasesLeaveSlowly() async throws {
        try log.beginPresence(under: "killed", for: .seconds(1))
        let joins = (0..<2000).map { PresenceChange(topic: "sport", member: "m\($0)", isPresent: true) }
        _ = try log.renewPresence(under: "killed", for: .seconds(1), joins, leaving: 0)
        log.clock.advance(by: .seconds(1))
        let server = try await HubUnderTest(log) {
            $0.presenceGrace = .seconds(30)
            $0.maximumPresenceEventsPerSecond = 50
        }
        let visitor = try await server.open()
        try await pass(seconds: 20, at: server)
        #expect((2900...3256).contains(log.range().last))
        try await pass(seconds: 25, at: server)
        #expect(log.range().last == 4000)
        #expect(try await server.hub.present(in: "sport").isEmpty)
        visitor.disconnect()
    }

    @Test func endedLeasesDoNotExceedTheAverageRate() async throws {
        try log.beginPresence(under: "killed", for: .seconds(1))
        let joins = (0..<2000).map { PresenceChange(topic: "sport", member: "k\($0)", isPresent: true) }
        _ = try log.renewPresence(under: "killed", for: .seconds(1), joins, leaving: 0)
        log.clock.advance(by: .seconds(1))
        let server = try await HubUnderTest(log) {
            $0.presenceGrace = .seconds(30)
            $0.maximumPresenceEventsPerSecond = 10
        }
        let visitor = try await server.open()
        server.hub.join(memberCount: 300)
        // The first step has 256 joins, whose debt lasts for 26 seconds, with a renewal in every fifth.
        try await pass(seconds: 40, at: server)
        #expect((2300...2600).contains(log.range().last))
        visitor.disconnect()
    }

    @Test func recordingsDoNotOverlap() {
        var presence = SharedPresence(grace: .seconds(30))
        let starts = [
            presence.beginRecording(hasMore: false, at: .zero), presence.beginRecording(hasMore: true, at: .seconds(9)),
        ]
        #expect(starts == [true, false])
        presence.begin("1", at: .zero)
        presence.endStep(continues: true, isComplete: true, at: .zero)
        let isStarted = presence.beginRecording(hasMore: true, at: .seconds(9))
        #expect(!isStarted)
        presence.endStep(continues: false, isComplete: true, at: .zero)
        let renewals = [4, 5].map { presence.beginRecording(hasMore: false, at: .seconds($0)) }
        #expect(renewals == [false, true], "the lease is renewed")
        presence.fail(at: .seconds(6))
        let retries = [6, 11].map { presence.beginRecording(hasMore: true, at: .seconds($0)) }
        #expect(retries == [false, true] && presence.lease == nil, "there is a pause")
    }
}
