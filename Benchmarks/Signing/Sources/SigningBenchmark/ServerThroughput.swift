import AsyncHTTPClient
import Foundation
import HTTPTypes
import NIOCore

/// Measures a server that verifies signatures, beside the same server without. Each is a process of its own, and the client is a third.
///
/// The time of the serving process alone is shown beside it, since the client has the same cores: it is counted in steps of 10 ms, so that a
/// round needs some thousand requests.
///
/// It fails if the server that verifies HMAC has less than 0.85 of the throughput of the one that verifies nothing.
enum ServerThroughput {
    private static let leastRatio = 0.85

    static func measure(rounds: Int, count: Int) async throws {
        let servers = try VerifyingServer.names.map { try VerifyingServer(fixed: $0) }
        var processes: [ServingProcess] = []
        defer { for process in processes { process.end() } }
        for server in servers { processes.append(try ServingProcess(of: server)) }
        var rates = servers.map { _ in [Double]() }
        var times = servers.map { _ in [Double]() }
        for round in 0..<rounds {
            for offset in servers.indices {
                // Another begins each round.
                let index = (offset + round) % servers.count
                let requests = try await servers[index].requests(count: count)
                let before = processes[index].processorTime
                rates[index].append(try await rate(of: requests, port: processes[index].port))
                if let before, let after = processes[index].processorTime {
                    times[index].append((after - before) / .seconds(1) * 1e6 / Double(count))
                }
            }
        }
        let cores = ProcessInfo.processInfo.activeProcessorCount
        print("\(cores) cores, \(rounds) rounds of \(count) requests, 16 at a time; medians, ratios to the first")
        let ratios = rates.map { own in median(zip(own, rates[0]).map { $0 / $1 }) }
        for (index, server) in servers.enumerated() {
            let time =
                times[index].isEmpty ? "" : String(format: "  %6.1f µs of its processor each", median(times[index]))
            print(
                server.name.padding(toLength: 24, withPad: " ", startingAt: 0)
                    + String(format: "%8.0f requests/s  ×%.2f", median(rates[index]), ratios[index]) + time)
        }
        guard ratios[1] >= leastRatio else {
            throw BenchmarkFailure(reason: "with \(servers[1].name) less than \(leastRatio) of the throughput is left")
        }
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
                            throw BenchmarkFailure(reason: "a response is another than was expected")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        return Double(requests.count) / (start.duration(to: .now) / .seconds(1))
    }
}
