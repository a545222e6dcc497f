import Foundation
import HTTPTypes
import Runway
import RunwayTesting
import RunwayTransport
import Testing

/// Generated exchanges over both transports: the same comes out, and the same went in.
@Suite(.timeLimit(.minutes(30)))
struct DifferenceTests {
    /// How many exchanges are made over each transport; `RUNWAY_EXCHANGES` asks for more.
    static let count = ProcessInfo.processInfo.environment["RUNWAY_EXCHANGES"].flatMap { Int($0) } ?? 1000
    /// How many of them one origin answers, over connections that are kept where they may be.
    static let countPerOrigin = 100

    @Test func bothTransportsMakeTheSameOfEveryAnswer() async throws {
        let first = ProcessInfo.processInfo.environment["RUNWAY_EXCHANGE_SEED"].flatMap { UInt64($0) } ?? 1
        for seed in first..<first + UInt64(max(1, Self.count / Self.countPerOrigin)) {
            try await play(seed)
        }
    }

    private func play(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        try await withScriptedOrigin { origin in
            let ours = NetworkLayer(to: origin.baseURL, over: try NIOTransport())
            let theirs = NetworkLayer(to: origin.baseURL, over: try AsyncHTTPClientTransport())
            for index in 0..<Self.countPerOrigin {
                let exchange = GeneratedExchange(using: &random)
                origin.on("/x", respond: exchange.response)
                let request = exchange.request(to: "127.0.0.1:\(origin.port)")
                let our = await ExchangeOutcome(request, over: ours)
                let ourRequest = origin.requests.last
                let their = await ExchangeOutcome(request, over: theirs)
                let theirRequest = origin.requests.last
                try #require(our == their, "seed \(seed), exchange \(index): \(exchange)")
                let received = try #require(ourRequest.map(Seen.init), "seed \(seed), exchange \(index): \(exchange)")
                let peer = try #require(theirRequest.map(Seen.init))
                try #require(
                    received.isLike(peer), "seed \(seed), exchange \(index): \(received) and \(peer) of \(exchange)")
            }
        }
    }
}

/// What an origin saw of a request.
private struct Seen {
    let line: String
    let fields: [String]
    let body: [UInt8]
    let isComplete: Bool

    init(_ request: ReceivedRequest) {
        line = "\(request.method) \(request.target) \(request.version)"
        fields = request.fields.map { "\($0.name.lowercased()): \($0.value)" }.sorted()
        body = request.body
        isComplete = request.isComplete
    }

    /// Whether an origin could not tell the two apart, but for one difference: of an empty body some say `Content-Length: 0`, and some
    /// nothing. RFC 9110 §8.6 wants it said where the method foresees a body (POST, PUT, PATCH), and leaves it open elsewhere. A request
    /// that was answered before its end may have been seen up to anywhere.
    func isLike(_ other: Seen) -> Bool {
        line == other.line && told == other.told && (!isComplete || !other.isComplete || body == other.body)
    }

    private var told: [String] {
        ["POST", "PUT", "PATCH"].contains { line.hasPrefix($0) } ? fields : fields.filter { $0 != "content-length: 0" }
    }
}
