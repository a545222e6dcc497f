import Foundation
import HTTPTypes
import Runway
import RunwayTesting
import Testing

@testable import RunwayTransport

/// Messages through the servers that `Scripts/websockets.sh` starts: PyPI's websockets, bare and behind reverse proxies, and servers
/// that speak WebSocket on streams of HTTP/2.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["RUNWAY_WEBSOCKETS"] != nil))
struct WebSocketInteroperationTests {
    private static func list(_ variable: String) -> [String] {
        (ProcessInfo.processInfo.environment[variable] ?? "").split(separator: " ").map(String.init)
    }

    /// The base URLs of servers that speak WebSocket over HTTP/1.1.
    static let servers = list("RUNWAY_WEBSOCKETS")
    /// Those of servers that speak it on streams of HTTP/2, over TLS.
    static let streamServers = list("RUNWAY_WEBSOCKET_STREAMS")
    static let allServers = servers + streamServers

    private static func open(
        _ server: String, _ change: (inout WebSocketOffer) -> Void = { _ in }, path: EndpointPath = "echo",
        sinks: [any EventSink] = []
    ) async throws -> WebSocketFlight {
        var offer = WebSocketOffer()
        change(&offer)
        var configuration = TransportConfiguration(connectTimeout: .seconds(300))
        if streamServers.contains(server), let path = list("RUNWAY_WEBSOCKET_AUTHORITY").first {
            configuration.trustPolicy = TrustPolicy(
                roots: .certificates(pem: [try String(contentsOfFile: path, encoding: .utf8)]))
        }
        let network = NetworkLayer(to: server, over: try NIOTransport(configuration: configuration), sinks: sinks)
        // Opens the connection that is shared; the server may refuse a request that is no handshake.
        if streamServers.contains(server) { _ = try? await network.call(Fetch<GET>("plain")) }
        return try await network.openWebSocket(Fetch<GET>(path), offering: offer, options: .standard)
    }

    @Test(arguments: streamServers)
    func serversOfStreamsAreUsedThatWay(_ server: String) async throws {
        let records = RecordCollector()
        let chat = try await Self.open(server, sinks: [records])
        #expect(chat.response.status == .ok)
        chat.close(WebSocketClose(1000))
        let record = try #require(try await records.records(count: 2).last)
        #expect(record.attempts.map(\.httpVersion) == ["HTTP/2"] && record.attempts[0].wire?.isReused == true)
    }

    @Test(arguments: allServers, [0, 1, 2, 3])
    func messagesComeBack(_ server: String, _ mode: Int) async throws {
        let chat = try await Self.open(server) { offer in
            switch mode {
            case 0: offer.deflate = nil
            case 1: break
            case 2:
                offer.deflate?.resetsServerContext = true
                offer.deflate?.resetsClientContext = true
            default: offer.deflate?.serverWindowBits = 9
            }
        }
        #expect((chat.connection.agreement.extensions != nil) == (mode > 0))
        var random = SeededGenerator(seed: UInt64(mode) + 1)
        for round in 0..<90 {
            let count = [0, 1, 125, 126, 127, 1000, 65_535, 65_536, 200_000][round % 9]
            let payload: WebSocketPayload =
                Bool.random(using: &random)
                ? .text(
                    String(
                        (0..<count).map { _ in
                            Character(Unicode.Scalar(UInt32.random(in: 0x20...0x4FF, using: &random)) ?? "?")
                        }))
                : .binary((0..<count).map { _ in UInt8.random(in: 0...(mode == 1 ? 255 : 7), using: &random) })
            try await chat.connection.send(payload)
            #expect(try await chat.next() == payload, "round \(round)")
        }
        chat.connection.close(WebSocketClose(1000, "done"))
        #expect(try await chat.next() == nil)
        #expect(chat.connection.status.received?.code == 1000)
    }

    @Test(arguments: allServers)
    func fragmentsOfTheServerAreJoined(_ server: String) async throws {
        let chat = try await Self.open(server, path: "fragments")
        #expect(try await chat.next() == .text(String(repeating: "fragment é ", count: 100)))
        #expect(try await chat.next() == .binary([UInt8](repeating: 7, count: 100_000)))
        #expect(try await chat.next() == nil)
        #expect(chat.connection.status.received == WebSocketClose(4001, "all sent"))
    }

    @Test(arguments: servers)
    func pingsGetPongsBothWays(_ server: String) async throws {
        // The server sends pings, and reports how many pongs it received.
        let chat = try await Self.open(server, path: "pings")
        chat.connection.ping()
        #expect(try await chat.next() == .text("5 pongs"))
        #expect(chat.connection.status.receivedByteCount > 5 * 4)
    }
}
