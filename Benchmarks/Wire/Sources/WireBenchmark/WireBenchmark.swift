import Foundation
import Runway
import RunwayTransport

/// What connections of our own cost beside AsyncHTTPClient.
@main
struct WireBenchmark {
    static let usage = """
        usage: WireBenchmark --http1-port PORT --http2-port PORT --root PEM
               [--rounds N] [--calls N] [--only h1|h2] [--sizes 1k,50k] [--at 1,16,100] [--contenders NAME,NAME…]
        """

    static func main() async throws {
        guard let http1Port = argument("--http1-port").flatMap({ Int($0) }),
            let http2Port = argument("--http2-port").flatMap({ Int($0) }), let root = argument("--root")
        else {
            print(usage)
            exit(2)
        }
        let rounds = argument("--rounds").flatMap { Int($0) } ?? 11
        let calls = argument("--calls").flatMap { Int($0) } ?? 4000
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let chosen = argument("--contenders")?.split(separator: ",").map(String.init)
        let sizes = (argument("--sizes") ?? "1k,50k").split(separator: ",").map(String.init)
        let widths = (argument("--at") ?? "1,16,100").split(separator: ",").compactMap { Int($0) }
        print("\(cores) cores, \(rounds) rounds of \(calls) calls, medians; × is the ratio to AsyncHTTPClient")
        for http1Only in [true, false] where argument("--only") != (http1Only ? "h2" : "h1") {
            let port = http1Only ? http1Port : http2Port
            let client = try makeClient(root: root, http1Only: http1Only)
            let pem = try String(contentsOfFile: root, encoding: .utf8)
            let configuration = TransportConfiguration(
                trust: .certificates(pem: [pem]), httpVersions: http1Only ? .http1Only : .automatic)
            let theirs = try AsyncHTTPClientTransport(configuration: configuration)
            let ours = try NIOTransport(configuration: configuration)
            for (file, byteCount) in [("1k", 1024), ("50k", 51200)] where sizes.contains(file) {
                for atATime in widths {
                    let url = "https://localhost:\(port)/\(file)"
                    let contenders = [
                        asyncHTTPClient(client, url: url, byteCount: byteCount),
                        try bare("AHCTransport", theirs, url: url, byteCount: byteCount),
                        try bare("NIOTransport", ours, url: url, byteCount: byteCount),
                        layered("layer over NIO", ours, url: url, byteCount: byteCount),
                    ]
                    .filter { chosen?.contains($0.name) ?? true }
                    // One at a time waits for the network more than it works.
                    let count = atATime == 1 ? calls / 2 : calls
                    let samples = try await compare(contenders, count: count, atATime: atATime, rounds: rounds)
                    let version = http1Only ? "HTTP/1.1" : "HTTP/2"
                    report("\(version), \(byteCount >> 10) KB, \(atATime) at a time", contenders, samples)
                }
            }
            try await client.shutdown()
            await ours.shutdown()
            await theirs.shutdown()
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
