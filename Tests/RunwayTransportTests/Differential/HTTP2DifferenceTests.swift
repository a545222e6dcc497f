import HTTPTypes
import Runway
import RunwayTesting
import RunwayTransport
import Testing

/// As ``DifferenceTests``, over TLS and HTTP/2.
///
/// No response comes before its request is over: on one that is whole before that AsyncHTTPClient 1.37.0 traps.
@Suite(.timeLimit(.minutes(30)))
struct HTTP2DifferenceTests {
    @Test func bothTransportsMakeTheSameOfEveryResponse() async throws {
        for seed in DifferenceTests.seeds { try await play(seed) }
    }

    private func play(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let player = HTTP2Player()
        try await RawHTTP2Server.run(player.act) { server in
            let ours = try server.layer()
            let theirs = NetworkLayer(
                to: server.baseURL, over: try AsyncHTTPClientTransport(configuration: server.configuration()))
            // AsyncHTTPClient makes up a field that no server sent, as HTTP/2 has none of the kind (RFC 9113 §8.2.2).
            let ignored: Set<HTTPField.Name> = [.transferEncoding]
            for index in 0..<DifferenceTests.countPerOrigin {
                let exchange = GeneratedHTTP2Exchange(using: &random)
                let place = "seed \(seed), exchange \(index): \(exchange)"
                let request = exchange.request.made(to: "localhost:\(server.port)", scheme: "https")
                player.play(exchange)
                let our = await ExchangeOutcome(request, over: ours, ignoring: ignored)
                let received = try #require(player.lastRequest, "\(place)")
                // Also where the server resets it over a connection in use.
                try #require(player.requestCount == 1, "\(place)")
                player.play(exchange)
                let their = await ExchangeOutcome(request, over: theirs, ignoring: ignored)
                let peer = try #require(player.lastRequest, "\(place)")
                try #require(our == their, "\(place)")
                try #require(exchange.isNotModified || our.isResponse != exchange.isBroken, "\(our), \(place)")
                try #require(received.isLike(peer), "\(received) and \(peer), \(place)")
            }
        }
    }
}
