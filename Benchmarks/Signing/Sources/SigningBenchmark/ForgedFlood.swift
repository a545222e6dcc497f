import AsyncHTTPClient
import Crypto
import Foundation
import HTTPTypes
import NIOCore
import Synchronization

/// How many requests were sent.
private final class SentCount: Sendable {
    private let count = Atomic(0)
    var value: Int { count.load(ordering: .relaxed) }
    func add() { count.add(1, ordering: .relaxed) }
}

/// Good requests of one source while another sends as many forged ones as it can, up to 10,000 a second.
enum ForgedFlood {
    private static let seconds = 10
    private static let perSecond = 10_000

    static func measure() async throws {
        for name in ["hmac-sha256", "ecdsa-p256-sha256"] {
            guard let server = try VerifyingServer.all.first(where: { $0.name == name }) else { continue }
            let (stream, continuation) = AsyncStream<Int>.makeStream()
            let running = Task { try await server.run { continuation.yield($0) } }
            var iterator = stream.makeAsyncIterator()
            let port = await iterator.next() ?? 0
            let alone = try await good(server, port)
            let forged = try await VerifyingServer(name: name, key: .hmac(SymmetricKey(size: .bits256))).requests(
                count: 500)
            let (sent, start) = (SentCount(), ContinuousClock.now)
            let flood = (0..<32).map { lane in
                Task { try await send(forged, lane, port, since: start) { sent.add() } }
            }
            let under = try await good(server, port)
            let rate = Double(sent.value) / (start.duration(to: .now) / .seconds(1))
            for task in flood {
                task.cancel()
                _ = await task.result
            }
            running.cancel()
            print(
                "\(name): " + String(format: "%.0f forged requests/s; ", rate)
                    + "good ones: \(under.accepted) of \(under.count) accepted, "
                    + String(
                        format: "median %.1f ms, greatest %.1f ms (%.1f ms without forged ones)", under.median,
                        under.greatest, alone.median))
        }
    }

    /// 200 good requests, one after the other.
    private static func good(
        _ server: VerifyingServer, _ port: Int
    ) async throws -> (accepted: Int, count: Int, median: Double, greatest: Double) {
        let requests = try await server.requests(count: 200)
        var (times, accepted) = ([Double](), 0)
        for fields in requests {
            let start = ContinuousClock.now
            if try await status(fields, source: "app", port) == 200 { accepted += 1 }
            times.append((start.duration(to: .now) / .seconds(1)) * 1e3)
        }
        return (accepted, requests.count, median(times), times.max() ?? 0)
    }

    private static func send(
        _ requests: [HTTPFields], _ lane: Int, _ port: Int, since start: ContinuousClock.Instant,
        _ count: @Sendable () -> Void
    ) async throws {
        var number = 0
        while !Task.isCancelled {
            // Each lane has its share of the rate.
            try await Task.sleep(until: start + .seconds(1) * number * 32 / perSecond, clock: .continuous)
            _ = try await status(requests[(number * 32 + lane) % requests.count], source: "attacker", port)
            count()
            number += 1
        }
    }

    private static func status(_ fields: HTTPFields, source: String, _ port: Int) async throws -> UInt {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/mirror?page=1")
        request.method = .POST
        for field in fields { request.headers.add(name: field.name.rawName, value: field.value) }
        request.headers.add(name: "X-Source", value: source)
        request.body = .bytes(ByteBuffer(bytes: VerifyingServer.body))
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        _ = try await response.body.collect(upTo: 1 << 20)
        return UInt(response.status.code)
    }
}
