import Foundation

/// What connections of our own cost beside AsyncHTTPClient, URLSession and libcurl.
@main
struct WireBenchmark {
    static let usage = """
        usage: WireBenchmark throughput --http1-port PORT --http2-port PORT --root PEM
                             [--rounds N] [--calls N] [--only h1|h2] [--sizes 1k,50k] [--at 1,16,100]
                             [--contenders NAME,NAME…]
               WireBenchmark far --host ADDRESS --http2-port PORT --echo-port PORT --root PEM [--rounds N]
               WireBenchmark first --http2-port PORT [--rounds N]
               WireBenchmark soak --http2-port PORT --root PEM --files FOLDER --certificate PEM --key PEM
                             [--seconds N] [--calls N]
               WireBenchmark replay --backend-port PORT --far-port PORT --root PEM [--rounds N] [--seed N] [--cold]
               WireBenchmark serve --certificate PEM --key PEM [--round-trip MILLISECONDS]
        """

    static func main() async throws {
        let rounds = integer("--rounds")
        switch CommandLine.arguments.dropFirst().first {
        case "throughput":
            guard let http1Port = integer("--http1-port"), let http2Port = integer("--http2-port"),
                let root = argument("--root")
            else { return misused() }
            try await Throughput(
                http1Port: http1Port, http2Port: http2Port, root: root, rounds: rounds ?? 11,
                calls: integer("--calls") ?? 4000,
                contenders: argument("--contenders")?.split(separator: ",").map(String.init),
                sizes: (argument("--sizes") ?? "1k,50k").split(separator: ",").map(String.init),
                widths: (argument("--at") ?? "1,16,100").split(separator: ",").compactMap { Int($0) },
                only: argument("--only")
            ).run()
        case "far":
            guard let host = argument("--host"), let port = integer("--http2-port"),
                let echoPort = integer("--echo-port"), let root = argument("--root")
            else { return misused() }
            try await FarServer(host: host, port: port, echoPort: echoPort, root: root, rounds: rounds ?? 21).run()
        case "first":
            guard let port = integer("--http2-port") else { return misused() }
            try FirstCall(url: "https://127.0.0.1:\(port)/1k", rounds: rounds ?? 21).run()
        case "first-call":
            guard CommandLine.arguments.count == 4, let kind = Client.Kind(rawValue: CommandLine.arguments[2]) else {
                return misused()
            }
            try await FirstCall.make(kind, url: CommandLine.arguments[3])
        case "soak":
            guard let port = integer("--http2-port"), let root = argument("--root"), let files = argument("--files"),
                let certificate = argument("--certificate"), let key = argument("--key")
            else { return misused() }
            try await Soak(
                port: port, root: root, files: files, identity: (certificate, key),
                time: .seconds(integer("--seconds") ?? 3600),
                calls: integer("--calls") ?? 1_000_000
            ).run()
        case "replay":
            guard let backendPort = integer("--backend-port"), let farPort = integer("--far-port"),
                let root = argument("--root")
            else { return misused() }
            let replay = try Replay(
                backendPort: backendPort, farPort: farPort, root: root, rounds: max(1, rounds ?? 5),
                seed: UInt64(integer("--seed")?.magnitude ?? 1), isCold: CommandLine.arguments.contains("--cold"))
            do {
                guard try await replay.run() else { exit(1) }
            } catch {
                print("failed:", error)
                exit(1)
            }
        case "serve":
            guard let certificate = argument("--certificate"), let key = argument("--key") else { return misused() }
            try await ReplayBackend.serve(
                certificate: certificate, key: key, roundTrip: .milliseconds(integer("--round-trip") ?? 20))
        default: misused()
        }
    }

    private static func misused() {
        print(usage)
        exit(2)
    }

    private static func integer(_ name: String) -> Int? { argument(name).flatMap { Int($0) } }

    /// The value after a flag of the command line.
    private static func argument(_ name: String) -> String? {
        guard let index = CommandLine.arguments.firstIndex(of: name), index + 1 < CommandLine.arguments.count else {
            return nil
        }
        return CommandLine.arguments[index + 1]
    }
}
