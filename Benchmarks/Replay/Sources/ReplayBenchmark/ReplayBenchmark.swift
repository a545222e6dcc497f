import Foundation
import NIOCore

/// A session of an app, replayed over the layer and over its peers, at a round trip of 20 ms.
@main
struct ReplayBenchmark {
    static let usage = """
        usage: ReplayBenchmark --root PEM --certificate PEM --key PEM [--rounds N] [--seed N]
        """

    static func main() async throws {
        guard let rootFile = argument("--root"), let certificate = argument("--certificate"),
            let key = argument("--key")
        else {
            print(usage)
            exit(2)
        }
        let rounds = argument("--rounds").flatMap { Int($0) } ?? 5
        let seed = argument("--seed").flatMap { UInt64($0) } ?? 1
        let session = Session(seed: seed)
        print("seed \(seed): \(session.callCount) calls of \(session.answerCount) distinct answers, 8 at once")

        let count = WireCount()
        let (ports, continuation) = AsyncStream<Int>.makeStream()
        let server = Task { @concurrent in
            try await Backend.run(certificate: certificate, key: key, count: count) { continuation.yield($0) }
        }
        guard let backendPort = await ports.first(where: { _ in true }) else { exit(2) }
        let port = try await DelayProxy.start(to: backendPort, delay: .milliseconds(10))
        let root = try String(contentsOfFile: rootFile, encoding: .utf8)
        let players = [
            asyncHTTPClient(port: port, rootFile: rootFile), urlSession(port: port),
            runway("Runway", prefetches: false, merges: false, port: port, root: root),
            runway("Runway, merging", prefetches: false, merges: true, port: port, root: root),
            runway("Runway, prefetching", prefetches: true, merges: false, port: port, root: root),
            runway("Runway, both", prefetches: true, merges: true, port: port, root: root),
        ]
        var results = players.map { _ in [Replay]() }
        for round in 0..<rounds {
            for offset in players.indices {
                // Another player begins each round, since the first one pays for what the last left behind.
                let index = (offset + round) % players.count
                let before = count.value
                let time = try await replay(session, by: players[index])
                results[index].append(Replay(seconds: time / .seconds(1), requestCount: count.value - before))
            }
        }
        server.cancel()
        report(players, results, rounds: rounds)
        exit(reachesGoals(players, results) ? 0 : 1)
    }

    private static func argument(_ name: String) -> String? {
        guard let index = CommandLine.arguments.firstIndex(of: name), index + 1 < CommandLine.arguments.count
        else { return nil }
        return CommandLine.arguments[index + 1]
    }
}
