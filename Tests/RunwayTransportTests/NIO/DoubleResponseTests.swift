import Dispatch
import NIOCore
import NIOSSL
import Runway
import RunwayTestServer
import RunwayTesting
import Testing

@testable import RunwayTransport

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
    func bytesWithAResponseAreNotTheNext(surplus: [UInt8]) async throws {
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

    @Test func bytesAfterAResponseAreNotTheNext() async throws {
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

    /// How a response and another one behind it come, while another request waits for the connection.
    struct Arrival: CustomTestStringConvertible {
        let scheme: String
        let delivery: DoubleResponseServer.Delivery
        /// The length of the response. 2048 bytes fill what the channel reads at first, 6144 what it reads first and second, so
        /// that the next read in the same turn of the event loop begins with the other response.
        let byteCount: Int

        var testDescription: String { "\(scheme), \(delivery), \(byteCount) bytes" }
        var body: String { String(repeating: "a", count: byteCount - head(0).utf8.count) }
        var response: [UInt8] { Array((head(body.utf8.count) + body).utf8) }

        private func head(_ contentLength: Int) -> String {
            "HTTP/1.1 200 OK\r\nContent-Length: \(String("000\(contentLength)".suffix(4)))\r\n\r\n"
        }

        static let all = ["http", "https"].flatMap { scheme in
            DoubleResponseServer.Delivery.allCases.flatMap { delivery in
                [64, 2048, 6144].map { Arrival(scheme: scheme, delivery: delivery, byteCount: $0) }
            }
        }
    }

    @Test(arguments: Arrival.all)
    func waiterNeverReceivesBytesBehindAResponse(_ arrival: Arrival) async throws {
        let test = try TestDialer(resolved: ["127.0.0.1"])
        let tls = arrival.scheme == "https" ? try NIOSSLContext(configuration: test.certificate.tls) : nil
        let server = try await DoubleResponseServer(tls)
        let transport = NIOTransport(
            configuration: TransportConfiguration(connectTimeout: .seconds(300), maximumConnectionsPerOrigin: 1),
            dialer: test.dialer)
        // Without TLS a layer sends requests to this machine alone.
        let host = tls == nil ? "127.0.0.1" : dialHost
        let network = NetworkLayer(to: "\(arrival.scheme)://\(host):\(server.port)", over: transport)
        let origin = Origin(scheme: arrival.scheme, host: host, port: server.port)
        let pool = try #require(transport.pools.enter(origin))
        let first = Task { try await network.call(Fetch<GET>("a")).text }
        try await waitUntil { server.requests == [["/a"]] }
        let waiter = Task { try await network.call(Fetch<POST>("b")).text }
        try await waitUntil { try await pool.eventLoop.submit { pool.waiting.count == 1 }.get() }
        let isOver = DispatchSemaphore(value: 0)
        try await pool.eventLoop.flatSubmit { () -> EventLoopFuture<Void> in
            let responded = server.respond([arrival.response, Self.ghost], arrival.delivery)
            responded.whenComplete { _ in isOver.signal() }
            // The client reads nothing before all is there. Its loop waits for the server's loop alone: a task might not run for long.
            isOver.wait()
            return responded
        }.get()
        #expect(try await first.value == arrival.body)
        #expect(try await waiter.value == "own")
        #expect(server.requests == [["/a"], ["/b"]])
        transport.pools.leave(origin)
        try await server.close()
    }
}
