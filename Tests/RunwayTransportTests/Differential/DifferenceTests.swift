import Foundation
import HTTPTypes
import Runway
import RunwayTestServer
import RunwayTesting
import RunwayTransport
import Testing

/// Generated exchanges over both transports: the same comes out, and the same went in.
@Suite(.timeLimit(.minutes(30)))
struct DifferenceTests {
    /// How many exchanges are made over each transport; `RUNWAY_EXCHANGES` asks for more.
    static let count = ProcessInfo.processInfo.environment["RUNWAY_EXCHANGES"].flatMap { Int($0) } ?? 1000
    /// How many of them one origin serves, over connections that are reused if they may be.
    static let countPerOrigin = 100

    /// A seed for each origin; `RUNWAY_EXCHANGE_SEED` is the first.
    static var seeds: Range<UInt64> {
        let first = ProcessInfo.processInfo.environment["RUNWAY_EXCHANGE_SEED"].flatMap { UInt64($0) } ?? 1
        return first..<first + UInt64(max(1, count / countPerOrigin))
    }

    @Test func bothTransportsMakeTheSameOfEveryResponse() async throws {
        for seed in Self.seeds { try await play(seed) }
    }

    private func play(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        try await withScriptedOrigin { origin in
            let ours = NetworkLayer(
                to: origin.baseURL,
                over: try NIOTransport(configuration: TransportConfiguration(connectTimeout: .seconds(300))))
            let theirs = NetworkLayer(to: origin.baseURL, over: try AsyncHTTPClientTransport())
            for index in 0..<Self.countPerOrigin {
                let exchange = GeneratedExchange(using: &random)
                origin.on("/x", respond: exchange.response)
                let request = exchange.request.made(to: "127.0.0.1:\(origin.port)")
                let our = await ExchangeOutcome(request, over: ours)
                let ourRequest = origin.requests.last
                let their = await ExchangeOutcome(request, over: theirs)
                let theirRequest = origin.requests.last
                let place = "seed \(seed), exchange \(index): \(exchange)"
                try #require(our == their, "\(place)")
                let received = try #require(ourRequest.map(SeenRequest.init), "\(place)")
                let peer = try #require(theirRequest.map(SeenRequest.init))
                try #require(received.isLike(peer), "\(received) and \(peer), \(place)")
            }
        }
    }
}
