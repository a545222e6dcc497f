import HTTPTypes
import Runway
import RunwayTestServer
import RunwayTesting
import RunwayTransport
import Testing

/// Connections are reused, shared, bounded and released.
@Suite(.timeLimit(.minutes(10)), .overEveryTransport)
struct ConnectionTests {
    @Test func callsOneAfterAnotherShareOneConnection() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .json("{}"))
            let network = try NetworkLayer(to: origin.baseURL)
            for index in 0..<20 { _ = try await network.call(Fetch<GET>("\(index)")) }
            _ = try await network.call(Fetch<POST>("a", .bytes([1, 2])))
            #expect(origin.connectionCount == 1)
        }
    }

    @Test(.except(.urlSession, "the system of the fakes shakes hands by a connection of its own"))
    func callsOverTLSShareOneConnection() async throws {
        let certificate = try TestCertificate()
        try await withScriptedOrigin(tls: certificate.tls) { origin in
            origin.otherwise(respond: .json("{}"))
            let trust = TransportConfiguration.Trust.certificates(pem: [certificate.certificatePEM])
            let network = try NetworkLayer(
                to: origin.baseURL, TransportConfiguration(trust: trust, connectTimeout: .seconds(300)))
            for _ in 0..<5 { _ = try await network.call(Fetch<GET>("a")) }
            #expect(origin.connectionCount == 1)
        }
    }

    @Test func closingServerGetsANewConnectionPerCall() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("once").header(.connection, "close"))
            let network = try NetworkLayer(to: origin.baseURL)
            for _ in 0..<5 { _ = try await network.call(Fetch<GET>("a")) }
            #expect(origin.connectionCount == 5)
        }
    }

    @Test func noMoreConnectionsAreOpenedThanAllowed() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.otherwise(respond: .json("{}").held(by: gate))
            let network = try NetworkLayer(
                to: origin.baseURL,
                TransportConfiguration(connectTimeout: .seconds(300), maximumConnectionsPerOrigin: 2))
            try await withThrowingTaskGroup(of: RawData.self) { group in
                for _ in 0..<20 { group.addTask { try await network.call(Fetch<GET>("a")) } }
                try await gate.waitForArrivals(count: 2)
                gate.open()
                try await group.waitForAll()
            }
            #expect(origin.requestCount == 20)
            #expect(origin.connectionCount == 2)
        }
    }

    @Test(.except(.urlSession, "its system decides how long connections persist"))
    func anIdleConnectionIsClosedAfterKeepAlive() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .json("{}"))
            let network = try NetworkLayer(
                to: origin.baseURL, TransportConfiguration(connectTimeout: .seconds(300), keepAlive: .milliseconds(50)))
            _ = try await network.call(Fetch<GET>("a"))
            try await origin.waitForDisconnects(count: 1)
            _ = try await network.call(Fetch<GET>("a"))
            #expect(origin.connectionCount == 2)
        }
    }

    @Test func streamReadToItsEndReleasesItsConnection() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .chunks(["one", "two"]))
            let network = try NetworkLayer(to: origin.baseURL)
            for _ in 0..<3 {
                let response = try await network.stream(Fetch<GET>("a"))
                #expect(try await response.body.text() == "onetwo")
            }
            #expect(origin.connectionCount == 1)
        }
    }

    @Test func streamThatIsReleasedUnreadFreesItsConnection() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on("/endless", respond: .chunks(["one", "two"]).pausing(.betweenChunks, .gate(gate)))
            origin.on("/next", respond: .text("next"))
            let network = try NetworkLayer(
                to: origin.baseURL,
                TransportConfiguration(connectTimeout: .seconds(300), maximumConnectionsPerOrigin: 1))
            _ = try await network.stream(Fetch<GET>("endless"))
            try await origin.waitForDisconnects(count: 1)
            #expect(try await network.call(Fetch<GET>("next")).text == "next")
        }
    }

    @Test func streamReleasedInTheMiddleFreesItsConnection() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on("/endless", respond: .chunks(["one", "two"]).pausing(.betweenChunks, .gate(gate)))
            origin.on("/next", respond: .text("next"))
            let network = try NetworkLayer(
                to: origin.baseURL,
                TransportConfiguration(connectTimeout: .seconds(300), maximumConnectionsPerOrigin: 1))
            for try await part in try await network.stream(Fetch<GET>("endless")).body {
                #expect(part == Array("one".utf8))
                break
            }
            try await origin.waitForDisconnects(count: 1)
            #expect(try await network.call(Fetch<GET>("next")).text == "next")
        }
    }

    @Test func refusedResponseReleasesItsConnection() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("no", status: .notFound))
            let network = try NetworkLayer(to: origin.baseURL)
            for _ in 0..<3 { _ = try await network.failure(of: Fetch<GET>("a")) }
            #expect(origin.connectionCount == 1)
        }
    }

    @Test func transportsDoNotShareConnections() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .json("{}"))
            for _ in 0..<3 {
                let network = try NetworkLayer(to: origin.baseURL)
                _ = try await network.call(Fetch<GET>("a"))
            }
            #expect(origin.connectionCount == 3)
        }
    }
}
