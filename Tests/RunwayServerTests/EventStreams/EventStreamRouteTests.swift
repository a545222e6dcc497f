import HTTPTypes
import Hummingbird
import MetricsTestKit
import RunwayServer
import RunwayTesting
import Testing

/// What the route of a hub responds.
@Suite(.timeLimit(.minutes(10)))
struct EventStreamRouteTests {
    @Test func theResponseForbidsBufferingAndTransformation() async throws {
        let server = try await HubUnderTest()
        let client = try await server.open(as: EventPermission(lifetime: .seconds(90)))
        #expect(client.status == .ok)
        #expect(client.fields[.contentType] == "text/event-stream")
        #expect(client.fields[.cacheControl] == "no-store, no-transform")
        #expect(client.fields[.contentEncoding] == nil)
        for (name, value) in [
            ("X-Accel-Buffering", "no"), ("Runway-Stream", "news"), ("Runway-Heartbeat", "25"),
            ("Runway-Heartbeat-Limit", "25"), ("Runway-Lifetime", "90"),
        ] {
            let name = try #require(HTTPField.Name(name))
            #expect(client.fields[name] == value, "\(name)")
        }
    }

    @Test(arguments: [(nil, "25"), ("5", "5"), ("60", "40"), ("0", "1"), ("-3", "1"), ("soon", "25")])
    func heartbeatStaysWithinTheBoundsOfTheHub(_ asked: String?, _ expected: String) async throws {
        let server = try await HubUnderTest { $0.maximumHeartbeat = .seconds(40) }
        let client = try await server.open("/news", asked.map { ["Runway-Heartbeat": $0] } ?? [:])
        let name = try #require(HTTPField.Name("Runway-Heartbeat"))
        #expect(client.fields[name] == expected)
    }

    @Test(arguments: [
        ("/news?padding=2048", [:], 2048), ("/news", ["Runway-Padding": "512"], 512),
        ("/news?padding=99999", [:], 8192),
        ("/news?padding=-1", [:], 0), ("/news", [:], 0),
    ])
    func paddingComesFirstAndIsBounded(_ path: String, _ fields: [String: String], _ expected: Int) async throws {
        let server = try await HubUnderTest()
        let client = try await server.open(path, fields)
        try await client.waitUntilLive()
        let padding = client.text.prefix { $0 == ":" || $0 == " " }
        #expect(padding.count == (expected == 0 ? 0 : expected + 1))
    }

    @Test func aServerSaysWhenToReconnect() async throws {
        let server = try await HubUnderTest { $0.reconnectionTime = .milliseconds(1500) }
        let client = try await server.open()
        try await client.waitUntilLive()
        #expect(client.text.hasPrefix("retry: 1500\n\n"))
    }

    @Test func tooManyConnectionsAreRefusedAtDifferentTimes() async throws {
        let server = try await HubUnderTest {
            $0.maximumConnections = 2
            $0.maximumConnectionsPerSource = 1
        }
        let one = try await server.open(as: EventPermission(owner: "anna"))
        var waits: Set<Int> = []
        for _ in 0..<100 {
            let response = try await server.respond(as: EventPermission(owner: "anna"))
            #expect(response.status == .tooManyRequests)
            waits.insert(response.headers[.retryAfter].flatMap { Int($0) } ?? 0)
        }
        #expect(waits.isSubset(of: Set(5...10)) && waits.count > 2)
        let other = try await server.open(as: EventPermission(owner: "ben"))
        #expect(other.status == .ok)
        let full = try await server.respond(as: EventPermission(owner: "carl"))
        #expect(full.status == .serviceUnavailable && full.headers[.retryAfter] != nil)
        #expect(server.hub.connectionCount == 2, "nobody was cut for another")
        try await one.waitUntilLive()
        let refused = try server.metrics.expectCounter(
            "runway_event_streams_refused_total", [("hub", "news"), ("reason", "tooManyOfSource")])
        #expect(refused.totalValue == 100)
        one.disconnect()
        await one.end()
        let next = try await server.open(as: EventPermission(owner: "anna"))
        #expect(next.status == .ok, "the slot is free again")
    }

    @Test func replayIsLimitedToWhatIsAllowedNow() async throws {
        let server = try await HubUnderTest()
        let first = try await server.open(as: EventPermission(topics: ["sport", "staff"]))
        try await first.waitUntilLive()
        let last = "\(server.hub.epoch)-0"
        first.disconnect()
        await first.end()
        try await server.publish("goal", topic: "sport")
        try await server.publish("salary", topic: "staff")
        try await server.publish("draw", topic: "sport")
        let second = try await server.open("/news", ["Last-Event-ID": last], as: EventPermission(topics: ["sport"]))
        try await second.waitUntilLive()
        #expect(second.events == ["goal", "draw"])
        let asked = try await server.open(
            "/news?topics=sport,staff", ["Last-Event-ID": last], as: EventPermission(topics: ["sport"]))
        try await asked.waitUntilLive()
        #expect(asked.events == ["goal", "draw"])
    }

    @Test func refusedTopicsAreNamedInTheOpening() async throws {
        let server = try await HubUnderTest()
        let permission = EventPermission(topics: ["sport"])
        let client = try await server.open("/news?topics=sport,wage,staff", as: permission)
        try await client.waitUntilLive()
        #expect(client.text.contains(#""refused":["staff","wage"]}"#))
        let none = try await server.respond(.get, "/news?topics=staff", as: permission)
        #expect(none.status == .forbidden)
        let empty = try await server.open("/news?topics=", as: permission)
        try await empty.waitUntilLive()
        try await server.publish("goal", topic: "sport")
        try await client.wait(for: "goal")
        #expect(empty.events.isEmpty && !empty.text.contains("refused"))
    }

    @Test(arguments: [Duration.zero, .seconds(-5)]) func endedPermissionIsRefused(_ lifetime: Duration) async throws {
        let server = try await HubUnderTest()
        let permission = EventPermission(lifetime: lifetime)
        #expect(try await server.respond(as: permission).status == .unauthorized)
        let client = try await server.open()
        try await client.waitUntilLive()
        let body = #"{"connection":"\#(client.connection)","add":[],"remove":[]}"#
        #expect(try await server.respond(.post, "/news/topics", as: permission, body: body).status == .unauthorized)
    }

    @Test func onlyTheOwnerChangesTheTopics() async throws {
        let server = try await HubUnderTest()
        let anna = EventPermission(topics: ["sport", "weather"], owner: "anna")
        let client = try await server.open("/news?topics=sport", as: anna)
        try await client.waitUntilLive()
        let body = #"{"connection":"\#(client.connection)","add":["weather"],"remove":["sport"]}"#
        func change(_ permission: EventPermission, _ body: String) async throws -> HTTPResponse.Status {
            try await server.respond(.post, "/news/topics", as: permission, body: body).status
        }
        #expect(try await change(EventPermission(owner: "ben"), body) == .notFound)
        #expect(try await change(anna, #"{"connection":"another","add":[],"remove":[]}"#) == .notFound)
        #expect(try await change(anna, #"{"connection":"\#(client.connection)","add":["staff"]}"#) == .forbidden)
        #expect(try await change(anna, #"{"connection":"\#(client.connection)","add":["a b"]}"#) == .badRequest)
        #expect(try await change(anna, "nonsense") == .badRequest)
        try await server.publish("rain", topic: "weather")
        #expect(try await change(anna, body) == .ok)
        try await server.publish("snow", topic: "weather")
        try await server.publish("goal", topic: "sport")
        try await server.publish("fog", topic: "weather")
        try await client.wait(for: "fog")
        #expect(client.events == ["snow", "fog"])
    }

    @Test(arguments: [
        PublishedEvent(topic: "", data: ""), PublishedEvent(topic: "a b", data: ""),
        PublishedEvent(topic: "a", type: "", data: ""), PublishedEvent(topic: "a", type: "runway.live", data: ""),
        PublishedEvent(topic: "a", type: "a\nb", data: ""), PublishedEvent(topic: "a", type: "a\u{0}", data: ""),
        PublishedEvent(topic: "a", data: "a\u{0}b"),
        PublishedEvent(topic: "a", data: String(repeating: "x", count: 101)),
    ])
    func eventThatSomeLogCannotStoreIsRefused(_ event: PublishedEvent) async throws {
        let server = try await HubUnderTest { $0.maximumEventByteCount = 100 }
        await #expect(throws: EventHubError.invalidEvent) { try await server.hub.publish(event) }
        #expect(try await server.hub.publish(PublishedEvent(topic: "a", data: "sound")) == 1)
    }

    @Test func topicsOfAConnectionHaveABound() async throws {
        let server = try await HubUnderTest { $0.maximumTopicsPerConnection = 3 }
        let client = try await server.open("/news?topics=a,b")
        try await client.waitUntilLive()
        func change(_ members: String) async throws -> HTTPResponse.Status {
            let body = #"{"connection":"\#(client.connection)",\#(members)}"#
            return try await server.respond(.post, "/news/topics", body: body).status
        }
        #expect(try await change(#""add":["c","d"],"remove":[]"#) == .badRequest)
        #expect(try await change(#""add":["c"],"remove":[]"#) == .ok)
        #expect(try await change(#""add":["d"],"remove":[]"#) == .badRequest)
        #expect(try await change(#""add":["d"],"remove":["a"]"#) == .ok)
        #expect(try await server.respond(.get, "/news?topics=a,b,c,d").status == .badRequest)
    }

    @Test func aSmallerPermissionEndsTheConnection() async throws {
        let server = try await HubUnderTest()
        let client = try await server.open(as: EventPermission(owner: "anna"))
        try await client.waitUntilLive()
        let body = #"{"connection":"\#(client.connection)","add":[],"remove":[]}"#
        let narrow = EventPermission(topics: ["sport"], owner: "anna")
        #expect(try await server.respond(.post, "/news/topics", as: narrow, body: body).status == .ok)
        try await server.publish("salary", topic: "staff")
        try await server.publish("goal", topic: "sport")
        await client.end()
        #expect(client.events == [])
        #expect(server.ended("lifetime") == 1)
    }

    @Test func aShorterPermissionShortensTheConnection() async throws {
        let server = try await HubUnderTest()
        let client = try await server.open("/news?topics=sport", as: EventPermission(owner: "anna"))
        try await client.waitUntilLive()
        let body = #"{"connection":"\#(client.connection)","add":[],"remove":[]}"#
        let short = EventPermission(topics: ["sport", "staff"], owner: "anna", lifetime: .seconds(2))
        #expect(try await server.respond(.post, "/news/topics", as: short, body: body).status == .ok)
        try await server.publish("goal", topic: "sport")
        try await client.wait(for: "goal")
        for _ in 0..<2 { try await server.passSecond() }
        await client.end()
        #expect(server.ended("lifetime") == 1)
    }

    @Test func eventsOfATopicLostMeanwhileCome() async throws {
        let server = try await HubUnderTest()
        let both = EventPermission(topics: ["sport", "wage"], owner: "anna")
        let client = try await server.open("/news?topics=sport,wage", as: both)
        try await client.waitUntilLive()
        let body = #"{"connection":"\#(client.connection)","add":[],"remove":[]}"#
        // The client never receives the response, which names the lost topic.
        let sport = EventPermission(topics: ["sport"], owner: "anna")
        #expect(try await server.respond(.post, "/news/topics", as: sport, body: body).status == .ok)
        try await server.publish("raise", topic: "wage")
        try await server.publish("goal", topic: "sport")
        await client.end()
        // The last id of this connection, of its `runway.live`.
        #expect(client.text.hasSuffix("id: \(server.hub.epoch)-0\nevent: runway.live\ndata: {}\n\n"))
        let again = try await server.open(
            "/news?topics=sport,wage", ["Last-Event-ID": "\(server.hub.epoch)-0"], as: both)
        try await again.wait(for: "goal")
        #expect(again.events == ["raise", "goal"])
    }

    @Test func everyResponseToAChangeNamesLostTopics() async throws {
        let server = try await HubUnderTest { $0.maximumTopicsPerConnection = 3 }
        func change(_ members: String, to allowed: Set<String>?) async throws -> String {
            let client = try await server.open(
                "/news?topics=a,b,wage", as: EventPermission(topics: ["a", "b"], owner: "anna"))
            try await client.waitUntilLive()
            let body = #"{"connection":"\#(client.connection)"\#(members)}"#
            let response = try await server.respond(
                .post, "/news/topics", as: EventPermission(topics: allowed, owner: "anna"), body: body)
            let reply = HubClient(response, reads: true)
            try await reply.wait(for: "}")
            return "\(response.status.code) \(reply.text)"
        }
        let position = #"200 {"position":"\#(server.hub.epoch)-0""#
        #expect(try await change("", to: ["a", "b"]) == position + #","refused":["wage"]}"#)
        #expect(try await change("", to: ["a"]) == position + #","refused":["b","wage"]}"#)
        // What is refused is not added by itself.
        #expect(try await change("", to: nil) == position + #","refused":["wage"]}"#)
        #expect(try await change(#","add":["c"],"remove":["wage"]"#, to: nil) == position + "}")
        #expect(try await change(#","add":["staff"]"#, to: ["a"]) == #"403 {"refused":["b","wage"]}"#)
        let tooMany = try await change(#","add":["c","d","e"]"#, to: ["a", "c", "d", "e"])
        #expect(tooMany == #"400 {"refused":["b","wage"]}"#)
    }

    @Test func changedTopicsLeaveAStreamOfAllUnlimited() async throws {
        let server = try await HubUnderTest()
        let client = try await server.open()
        try await client.waitUntilLive()
        let body = #"{"connection":"\#(client.connection)","add":["weather"],"remove":[]}"#
        #expect(try await server.respond(.post, "/news/topics", body: body).status == .ok)
        try await server.publish("goal", topic: "sport")
        try await client.wait(for: "goal")
    }

    @Test func responseThatIsNeverWrittenLeavesTheHub() async throws {
        let server = try await HubUnderTest { $0.maximumConnectionsPerSource = 1 }
        let response = try await server.respond()
        withExtendedLifetime(response) { #expect(server.hub.connectionCount == 1) }
        _ = consume response
        #expect(server.hub.connectionCount == 0)
        #expect(server.ended("disconnected") == 1)
        #expect(try await server.respond().status == .ok)
    }

    @Test func metricsCountWhatHappened() async throws {
        let server = try await HubUnderTest()
        let (one, other) = (try await server.open("/news?topics=sport"), try await server.open("/news?topics=weather"))
        for client in [one, other] { try await client.waitUntilLive() }
        let open = try server.metrics.expectGauge("runway_event_streams", [("hub", "news")])
        #expect(open.lastValue == 2)
        try await server.publish("goal", topic: "sport")
        try await server.publish("quiz", topic: "games")
        func total(_ label: String) throws -> Int64 {
            try server.metrics.expectCounter(label, [("hub", "news")]).totalValue
        }
        #expect(try total("runway_events_published_total") == 2)
        #expect(try total("runway_events_delivered_total") == 1)
        one.disconnect()
        await one.end()
        #expect(open.lastValue == 1)
        #expect(server.ended("disconnected") == 1)
    }
}
