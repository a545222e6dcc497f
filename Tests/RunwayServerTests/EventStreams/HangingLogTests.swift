import HTTPTypes
import Hummingbird
import RunwayServer
import RunwayTesting
import Synchronization
import Testing

/// Hubs over a log that does not respond.
@Suite(.timeLimit(.minutes(10)))
struct HangingLogTests {
    @Test func aConnectionIsRefusedInTime() async throws {
        let log = TestedEventLog()
        let server = try await HubUnderTest(log)
        log.change(to: .hanging)
        defer { log.change(to: .responding) }
        let waiting = Task { try await server.respond() }
        try await waitUntil("the read") { log.hangingCount == 1 }
        for _ in 0..<9 { try await server.passSecond() }
        #expect(server.hub.connectionCount == 1)
        try await server.passSecond()
        let response = try await waiting.value
        #expect(response.status == .serviceUnavailable && response.headers[.retryAfter] != nil)
        #expect(server.hub.connectionCount == 0 && server.ended("log") == 1)
        #expect(log.hangingCount == 1, "all connections wait for the same read")
    }

    @Test func cancelledRequestDoesNotWaitForTheLog() async throws {
        let log = TestedEventLog()
        let server = try await HubUnderTest(log)
        log.change(to: .hanging)
        defer { log.change(to: .responding) }
        let waiting = Task { try await server.respond() }
        try await waitUntil("the read") { log.hangingCount == 1 }
        waiting.cancel()
        #expect(try await waiting.value.status == .serviceUnavailable)
        #expect(server.hub.connectionCount == 0)
    }

    @Test func aLogThatFailsCausesNoReset() async throws {
        let log = TestedEventLog()
        let server = try await HubUnderTest(log)
        log.change(to: .failing)
        #expect(try await server.respond().status == .serviceUnavailable)
        log.change(to: .responding)
        // An event of another process.
        _ = log.append([PublishedEvent(topic: "all", data: "goal")])
        let client = try await server.open("/news", ["Last-Event-ID": "\(server.hub.epoch)-1"])
        try await client.waitUntilLive()
        #expect(client.text.contains("runway.resumed"))
    }

    @Test func aReplayEndsInTime() async throws {
        let log = TestedEventLog()
        let server = try await HubUnderTest(UnsharedLog(base: log))
        try await server.publish("goal")
        log.change(to: .hanging)
        defer { log.change(to: .responding) }
        let client = try await server.open("/news", ["Last-Event-ID": "\(server.hub.epoch)-0"])
        try await waitUntil("the read") { log.hangingCount == 1 }
        for _ in 0..<10 { try await server.passSecond() }
        await client.end()
        #expect(server.hub.connectionCount == 0 && server.ended("log") == 1)
    }

    @Test func permissionShrinkingDuringAReplayLosesNoEvent() async throws {
        let log = TestedEventLog()
        let server = try await HubUnderTest(UnsharedLog(base: log))
        try await server.publish("raise", topic: "wage")
        try await server.publish("goal", topic: "sport")
        log.change(to: .hanging)
        let client = try await server.open(
            "/news?topics=sport,wage", ["Last-Event-ID": "\(server.hub.epoch)-0"],
            as: EventPermission(topics: ["sport", "wage"], owner: "anna"))
        try await client.wait(for: "runway.resumed")
        try await waitUntil("the read") { log.hangingCount == 1 }
        let body = #"{"connection":"\#(client.connection)","add":[],"remove":[]}"#
        let sport = EventPermission(topics: ["sport"], owner: "anna")
        #expect(try await server.respond(.post, "/news/topics", as: sport, body: body).status == .ok)
        log.change(to: .responding)
        await client.end()
        // A place behind the lost event would let the client resume without it.
        #expect(client.events.isEmpty && !client.text.contains("id: \(server.hub.epoch)-2"))
    }

    @Test func leavingClientDoesNotWaitForTheLog() async throws {
        let log = TestedEventLog()
        let server = try await HubUnderTest(UnsharedLog(base: log)) { $0.maximumConnectionsPerSource = 1000 }
        try await server.publish("goal")
        log.change(to: .hanging)
        let (path, fields) = ("/news", ["Last-Event-ID": "\(server.hub.epoch)-0"])
        // Each leaves a read behind.
        for count in 1...65 {
            let client = try await server.open(path, fields)
            try await waitUntil("the read") { log.hangingCount == count }
            client.disconnect()
            await client.end()
        }
        #expect(server.hub.connectionCount == 0)
        let refused = try await server.respond(.get, path, fields)
        #expect(refused.status == .serviceUnavailable, "the reads have a bound")
        log.change(to: .responding)
        try await waitUntil("the end of the reads") { try await server.respond(.get, path, fields).status == .ok }
    }

    @Test func aPublisherDoesNotWaitForTheDelivery() async throws {
        let log = TestedEventLog()
        let server = try await HubUnderTest(log)
        let client = try await server.open()
        try await client.waitUntilLive()
        log.change(to: .hanging)
        try await server.publish("goal")
        log.change(to: .responding)
        try await client.wait(for: "goal")
    }
}

/// Requests about a connection that reach another process.
@Suite(.timeLimit(.minutes(10)))
struct ProbeTests {
    private let anna = EventPermission(owner: "anna")

    private func body(_ connection: String, _ members: String = #""add":[],"remove":[]"#) -> String {
        #"{"connection":"\#(connection)",\#(members)}"#
    }

    /// The response to a request that no process responds to in time.
    private func status(_ body: String, as owner: String, of server: HubUnderTest) async throws -> HTTPResponse.Status {
        let isDone = Atomic(false)
        let waiting = Task {
            defer { isDone.store(true, ordering: .relaxed) }
            return try await server.respond(.post, "/news/topics", as: EventPermission(owner: owner), body: body).status
        }
        try await waitUntil("the response") {
            isDone.load(ordering: .relaxed)
        } meanwhile: {
            server.clock.advance(by: .seconds(1))
        }
        return try await waiting.value
    }

    @Test func foreignProbeConfirmsOnlyTheClientsConnection() async throws {
        let log = TestedEventLog()
        let (server, other) = (try await HubUnderTest(log), try await HubUnderTest(log))
        let client = try await server.open(as: anna)
        try await client.waitUntilLive()
        try await server.publish("goal")
        try await client.wait(for: "goal")
        let text = client.text
        #expect(try await status(body(client.connection), as: "ben", of: other) == .notFound)
        #expect(client.text == text, "others get no heartbeat")
        let unknown = "01234567-89ab-cdef-0123-456789abcdef"
        #expect(try await status(body(unknown), as: "anna", of: other) == .notFound)
        let response = try await other.respond(.post, "/news/topics", as: anna, body: body(client.connection))
        #expect(response.status == .ok)
        try await client.wait(for: text + "id: \(server.hub.epoch)-1\n\n")
        client.disconnect()
        await client.end()
        #expect(try await status(body(client.connection), as: "anna", of: other) == .notFound)
    }

    @Test func topicsAreNotChangedInAnotherProcess() async throws {
        let log = TestedEventLog()
        let (server, other) = (try await HubUnderTest(log), try await HubUnderTest(log))
        let client = try await server.open("/news?topics=sport", as: anna)
        try await client.waitUntilLive()
        for members in [#""add":["weather"],"remove":[]"#, #""add":[],"remove":["sport"]"#] {
            let response = try await other.respond(
                .post, "/news/topics", as: anna, body: body(client.connection, members))
            #expect(response.status == .notFound)
        }
    }
}
