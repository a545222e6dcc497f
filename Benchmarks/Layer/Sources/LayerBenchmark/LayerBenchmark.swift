import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What the layer costs over AsyncHTTPClient, with URLSession beside both.
@main
struct LayerBenchmark {
    static let usage = """
        usage: LayerBenchmark --http1-port PORT --http2-port PORT --root PEM
               [--rounds N] [--calls N] [--only h1|h2] [--contenders NAME,NAME…]
        """

    static func main() async throws {
        guard let http1Port = argument("--http1-port").flatMap({ Int($0) }),
            let http2Port = argument("--http2-port").flatMap({ Int($0) }), let root = argument("--root")
        else {
            print(usage)
            exit(2)
        }
        let rounds = argument("--rounds").flatMap { Int($0) } ?? 11
        let calls = argument("--calls").flatMap { Int($0) } ?? 2000
        let cores = ProcessInfo.processInfo.activeProcessorCount
        print("\(cores) cores, \(rounds) rounds of \(calls) calls, medians; × is the ratio to AsyncHTTPClient")
        for http1Only in [true, false] where argument("--only") != (http1Only ? "h2" : "h1") {
            let port = http1Only ? http1Port : http2Port
            let client = try makeClient(root: root, http1Only: http1Only)
            let likeRunway = try makeClient(root: root, http1Only: http1Only, settings: .likeRunway)
            let network = try makeNetwork(port: port, root: root, http1Only: http1Only)
            for (file, byteCount) in [("1k", 1024), ("50k", 51200)] {
                for atATime in [1, 16] {
                    let url = "https://localhost:\(port)/\(file)"
                    let contenders = [
                        asyncHTTPClient("AsyncHTTPClient", client, url: url, byteCount: byteCount),
                        asyncHTTPClient("AsyncHTTPClient*", likeRunway, url: url, byteCount: byteCount),
                        networkCall("network.call", network, file: file, byteCount: byteCount),
                        managerLoad(network, file: file, byteCount: byteCount),
                        networkCall(
                            "the layer alone", makeNetwork(answering: byteCount), file: file, byteCount: byteCount),
                        urlSession(.shared, url: url, byteCount: byteCount),
                    ]
                    .filter { argument("--contenders")?.split(separator: ",").contains($0.name[...]) ?? true }
                    // One at a time waits for the network more than it works.
                    let count = atATime == 1 ? calls / 2 : calls
                    let samples = try await compare(contenders, count: count, atATime: atATime, rounds: rounds)
                    let version = http1Only ? "HTTP/1.1" : "HTTP/2"
                    report("\(version), \(byteCount >> 10) KB, \(atATime) at a time", contenders, samples)
                }
            }
            try await client.shutdown()
            try await likeRunway.shutdown()
        }
    }

    /// The value after a flag of the command line.
    private static func argument(_ name: String) -> String? {
        guard let index = CommandLine.arguments.firstIndex(of: name), index + 1 < CommandLine.arguments.count else {
            return nil
        }
        return CommandLine.arguments[index + 1]
    }
}
