import HTTPTypes
import NIOSSL
import RunwayTestServer
import RunwayTesting
import Testing

/// The same over TLS, where it differs.
@Suite(.timeLimit(.minutes(10)))
struct ScriptedOriginTLSTests {
    @Test func serverNameIsRecordedAsItWasSent() async throws {
        try await withScriptedOrigin(tls: TestCertificate().tls) { origin in
            #expect(origin.baseURL == "https://localhost:\(origin.port)")
            origin.on("/", respond: .text("safe"))
            let client = try await RawClient.connect(to: origin.port, serverName: "api.example.test")
            try await client.get("/")
            #expect(try await client.read(through: "safe").hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(origin.requests.map(\.serverName) == ["api.example.test"])
        }
    }

    @Test(arguments: [
        (ScriptedResponse.Ending.close, RawClient.End.finished), (.closeAbruptly, .truncated), (.reset, .reset),
    ])
    func endingIsSeenThroughTLS(ending: ScriptedResponse.Ending, end: RawClient.End) async throws {
        try await withScriptedOrigin(tls: TestCertificate().tls) { origin in
            let gate = ScriptedGate()
            origin.on("/", respond: .text("torn").pausing(.beforeEnd, .gate(gate)).declaring(length: 9).ending(ending))
            let client = try await RawClient.connect(to: origin.port, serverName: "localhost")
            try await client.get("/")
            _ = try await client.read(through: "torn")
            gate.open()
            #expect(try await client.readToEnd().isEmpty)
            #expect(client.end == end)
            try await client.close()
            try await origin.waitForDisconnects(count: 1)
        }
    }

    @Test func halfCloseWorksThroughTLS() async throws {
        try await withScriptedOrigin(tls: TestCertificate().tls) { origin in
            origin.on("/", respond: .text("bye").ending(.halfClose))
            let client = try await RawClient.connect(to: origin.port, serverName: "localhost")
            try await client.get("/")
            #expect(try await client.readToEnd().hasSuffix("bye"))
            #expect(client.end == .finished)
            #expect(origin.openConnectionCount == 1)
            try await client.close()
            try await origin.waitForDisconnects(count: 1)
        }
    }

    @Test func earlyResponseFollowsTheHandshake() async throws {
        try await withScriptedOrigin(tls: TestCertificate().tls) { origin in
            origin.onConnections([.respond(.text("early", status: .requestTimeout))])
            let client = try await RawClient.connect(to: origin.port, serverName: "localhost")
            #expect(try await client.read(through: "early").hasPrefix("HTTP/1.1 408 "))
        }
    }

    @Test(arguments: [ScriptedConnection.close, .reset])
    func connectionCanBeDroppedBeforeTheHandshake(connection: ScriptedConnection) async throws {
        try await withScriptedOrigin(tls: TestCertificate().tls) { origin in
            origin.onConnections([connection])
            let end = try await RawClient.connectToBeDropped(by: origin.port, serverName: "localhost")
            #expect(end != nil)
            try await origin.waitForDisconnects(count: 1)
            #expect(origin.requestCount == 0)
            #expect(origin.handshakeFailures.isEmpty)
        }
    }

    @Test func failedHandshakeIsRecorded() async throws {
        try await withScriptedOrigin(tls: TestCertificate().tls) { origin in
            let client = try await RawClient.connect(to: origin.port)
            try await client.get("/")
            try await origin.waitForDisconnects(count: 1)
            #expect(origin.handshakeFailures.count == 1)
            #expect(origin.handshakeFailures.first?.hasPrefix("Connection 1: ") == true)
            #expect(origin.requestCount == 0)
        }
    }

    @Test func wrongCertificateBytesAreRefusedByAnError() {
        #expect(throws: (any Error).self) {
            try TLSConfiguration.makeOriginConfiguration(certificateChainPEM: Array("not PEM".utf8), privateKeyPEM: [])
        }
    }
}
