import Runway
import RunwayTestServer
import RunwayTesting
import RunwayTransport
import Testing

/// A server that sends two responses over HTTP/1.1 where it was asked for one: the second is nobody's, and never the next call's.
@Suite(.timeLimit(.minutes(10)))
struct DoubleResponseTests {
    private static let response = Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nasked".utf8)
    private static let ghost = Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nghost".utf8)

    private func layer(_ origin: ScriptedOrigin) throws -> NetworkLayer {
        let configuration = TransportConfiguration(connectTimeout: .seconds(300), maximumConnectionsPerOrigin: 1)
        return NetworkLayer(to: origin.baseURL, over: try NIOTransport(configuration: configuration))
    }

    /// Of the second response this much comes right behind the first: all, one byte, or nothing but the end of a line.
    @Test(arguments: [ghost, Array(ghost.prefix(1)), Array("\r\n".utf8)])
    func bytesWithTheResponseAreNotTheNextOne(surplus: [UInt8]) async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on("/a", respond: .raw(Self.response + surplus).ending(.stayOpen).held(by: gate))
            origin.on("/b", respond: .text("second"))
            let network = try layer(origin)
            let first = Task { try await network.call(Fetch<GET>("a")).text }
            try await gate.waitForArrivals()
            // With one connection these wait for it, or come when it is done.
            let others = (0..<3).map { _ in Task { try await network.call(Fetch<GET>("b")).text } }
            gate.open()
            #expect(try await first.value == "asked")
            for other in others { #expect(try await other.value == "second") }
            #expect(try await network.call(Fetch<POST>("b")).text == "second")
            #expect(origin.requests.filter { $0.connection == 1 }.map(\.path) == ["/a"])
            #expect(origin.connectionCount == 2)
        }
    }

    @Test func bytesAfterTheResponseAreNotTheNextOne() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            let twice = ScriptedResponse.raw(Self.response, Self.ghost).ending(.stayOpen)
            origin.on("/a", respond: twice.pausing(.betweenChunks, .gate(gate)))
            origin.on("/b", respond: .text("second"))
            let network = try layer(origin)
            #expect(try await network.call(Fetch<GET>("a")).text == "asked")
            try await gate.waitForArrivals()
            #expect(origin.openConnectionCount == 1)
            gate.open()
            // The connection is not reused.
            try await origin.waitForDisconnects(count: 1)
            for _ in 0..<2 { #expect(try await network.call(Fetch<GET>("b")).text == "second") }
            #expect(origin.requests.map(\.connection) == [1, 2, 2])
        }
    }
}
