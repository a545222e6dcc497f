import Hummingbird
import RunwayServer
import RunwayTesting
import Testing

/// What a hub does by its clock, which these tests advance.
@Suite(.timeLimit(.minutes(10)))
struct EventHubClockTests {
    @Test func quietStreamSendsAHeartbeatInTime() async throws {
        let server = try await HubUnderTest()
        let client = try await server.open()
        try await client.waitUntilLive()
        let heartbeat = "id: \(server.hub.epoch)-0\n\n"
        for _ in 0..<23 { try await server.passSecond() }
        #expect(!client.text.hasSuffix(heartbeat))
        // The next look at the connection after this one comes at 25 s or a little later.
        try await server.passSecond()
        try await waitUntil("the heartbeat") { client.text.hasSuffix(heartbeat) }
        #expect(server.clock.now.offset == .seconds(24))
    }

    @Test func anEventDelaysTheHeartbeat() async throws {
        let server = try await HubUnderTest()
        let client = try await server.open()
        try await client.waitUntilLive()
        for _ in 0..<20 { try await server.passSecond() }
        try await server.publish("goal")
        try await client.wait(for: "goal")
        for _ in 0..<20 { try await server.passSecond() }
        #expect(client.text.hasSuffix("goal\n\n"))
    }

    @Test func aStreamEndsWithItsPermission() async throws {
        let server = try await HubUnderTest()
        let client = try await server.open(as: EventPermission(lifetime: .seconds(10)))
        let other = try await server.open()
        for client in [client, other] { try await client.waitUntilLive() }
        for _ in 0..<9 { try await server.passSecond() }
        #expect(server.hub.connectionCount == 2)
        try await server.passSecond()
        await client.end()
        #expect(server.hub.connectionCount == 1)
        #expect(server.ended("lifetime") == 1)
    }

    @Test func clientThatReadsNothingIsCutInTime() async throws {
        let server = try await HubUnderTest { $0.writeTimeout = .seconds(3) }
        let client = try await server.open(reads: false)
        try await client.waitForWrite()
        for _ in 0..<3 { try await server.passSecondOrEnd() }
        await client.end()
        #expect(server.hub.connectionCount == 0)
        #expect(server.ended("slow") == 1)
    }

    @Test func clientThatIsTooFarBehindIsCut() async throws {
        let server = try await HubUnderTest { $0.maximumQueuedByteCount = 2000 }
        let (reader, slow) = (try await server.open(), try await server.open())
        for client in [reader, slow] { try await client.waitUntilLive() }
        slow.stopReading()
        let text = String(repeating: "x", count: 900)
        try await server.publish("0 " + text)
        try await slow.waitForWrite()
        for number in 1...4 {
            try await server.publish("\(number) " + text)
            try await reader.wait(for: "data: \(number) ")
        }
        await slow.end()
        #expect(server.hub.connectionCount == 1, "it is one that does not read, for which nothing more is stored")
        #expect(server.ended("slow") == 1)
    }

    @Test func drainingSpreadsItsClientsOverTime() async throws {
        let server = try await HubUnderTest { $0.maximumConnectionsPerSource = 1000 }
        var clients: [HubClient] = []
        for _ in 0..<200 { clients.append(try await server.open()) }
        for client in clients { try await client.waitUntilLive() }
        server.hub.drain()
        #expect(try await server.respond().status == .serviceUnavailable)
        // Each of the connections and the hub's own look at them.
        try await server.clock.waitForSleepers(count: 201)
        server.clock.advance(by: .milliseconds(2500))
        try await waitUntil("the first half") { server.hub.connectionCount < 150 }
        #expect(server.hub.connectionCount > 50, "the others have time")
        server.clock.advance(by: .milliseconds(2500))
        for client in clients { await client.end() }
        #expect(server.hub.connectionCount == 0)
        #expect(server.ended("draining") == 200)
    }

    @Test func stalledClientDoesNotHoldUpAShutdown() async throws {
        let server = try await HubUnderTest { $0.drainingTime = .seconds(1) }
        let client = try await server.open(reads: false)
        try await client.waitForWrite()
        server.hub.drain()
        // The hub's own look, and the connection's turn within the second of the draining.
        try await server.clock.waitForSleepers(count: 2)
        server.clock.advance(by: .seconds(1))
        // The hub's own look, and five seconds for what is being written.
        try await server.clock.waitForSleepers(count: 2)
        server.clock.advance(by: .seconds(5))
        try await waitUntil("the end of the stream") { server.hub.connectionCount == 0 }
        await client.end()
        #expect(server.ended("draining") == 1)
    }

    @Test func aStreamThatEndsCompletesWhatItWrites() async throws {
        let server = try await HubUnderTest()
        let client = try await server.open(as: EventPermission(lifetime: .seconds(2)), reads: false)
        try await client.waitForWrite()
        for _ in 0..<2 { try await server.passSecond() }
        client.read()
        await client.end()
        try await client.wait(for: "runway.reset")
    }
}

extension HubUnderTest {
    /// Lets a second pass; the hub may look at nothing after it.
    fileprivate func passSecondOrEnd() async throws {
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        try await waitUntil("the hub's look") { clock.sleeperCount > 0 || hub.connectionCount == 0 }
    }
}
