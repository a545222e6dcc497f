import AsyncHTTPClient
import Foundation
import HTTPTypes
import NIOCore

/// Measures a server that verifies signatures, beside the same server without. The client runs in the same process: the share of the
/// server alone is larger than the ratios show, as it would be with a handler that does more.
enum ServerThroughput {
    static func measure(rounds: Int, count: Int) async throws {
        let servers = try VerifyingServer.all
        var ports: [Int] = []
        var running: [Task<Void, any Error>] = []
        for server in servers {
            let (stream, continuation) = AsyncStream<Int>.makeStream()
            running.append(Task { try await server.run { continuation.yield($0) } })
            var iterator = stream.makeAsyncIterator()
            ports.append(await iterator.next() ?? 0)
        }
        var rates = servers.map { _ in [Double]() }
        for round in 0..<rounds {
            for offset in servers.indices {
                // Another begins each round.
                let index = (offset + round) % servers.count
                let requests = try await servers[index].requests(count: count)
                rates[index].append(try await rate(of: requests, port: ports[index]))
            }
        }
        let cores = ProcessInfo.processInfo.activeProcessorCount
        print("\(cores) cores, \(rounds) rounds of \(count) requests, 16 at a time; medians, ratios to the first")
        for (server, own) in zip(servers, rates) {
            let ratio = median(zip(own, rates[0]).map { $0 / $1 })
            print(
                server.name.padding(toLength: 24, withPad: " ", startingAt: 0)
                    + String(format: "%8.0f requests/s  ×%.2f", median(own), ratio))
        }
        for task in running { task.cancel() }
    }

    /// Requests a second, 16 at a time.
    private static func rate(of requests: [HTTPFields], port: Int) async throws -> Double {
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<16 {
                group.addTask {
                    for index in stride(from: lane, to: requests.count, by: 16) {
                        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/mirror?page=1")
                        request.method = .POST
                        for field in requests[index] {
                            request.headers.add(name: field.name.rawName, value: field.value)
                        }
                        request.body = .bytes(ByteBuffer(bytes: VerifyingServer.body))
                        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
                        let body = try await response.body.collect(upTo: 1 << 20)
                        guard response.status == .ok, body.readableBytes == VerifyingServer.body.count else {
                            throw UnexpectedResponse()
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        return Double(requests.count) / (start.duration(to: .now) / .seconds(1))
    }
}

struct UnexpectedResponse: Error {}
