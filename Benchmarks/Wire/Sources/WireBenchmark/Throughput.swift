import Foundation
import Runway
import RunwayTransport

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Calls a second, and what they cost the processor, on the loopback.
struct Throughput {
    var http1Port: Int
    var http2Port: Int
    var root: String
    var rounds: Int
    var calls: Int
    var contenders: [String]?
    var sizes: [String]
    var widths: [Int]
    var only: String?

    func run() async throws {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        print("\(cores) cores, \(rounds) rounds of \(calls) calls, medians; × is the ratio to AsyncHTTPClient")
        for http1Only in [true, false] where only != (http1Only ? "h2" : "h1") {
            let client = try makeClient(root: root, http1Only: http1Only)
            let pem = try String(contentsOfFile: root, encoding: .utf8)
            let configuration = TransportConfiguration(
                trust: .certificates(pem: [pem]), usesHTTP2: !http1Only)
            let ours = try NIOTransport(configuration: configuration)
            let curlClient = try CurlClient(root: root, http1Only: http1Only)
            let session = URLSession(configuration: .ephemeral)
            let port = http1Only ? http1Port : http2Port
            let network = makeNetwork(over: ours, at: "https://localhost:\(port)")
            for (file, byteCount) in [("1k", 1024), ("50k", 51200)] where sizes.contains(file) {
                for atATime in widths {
                    let url = "https://localhost:\(port)/\(file)"
                    let chosen = [
                        asyncHTTPClient(client, url: url, byteCount: byteCount),
                        try bare("NIOTransport", ours, url: url, byteCount: byteCount),
                        networkCall("network.call", network, file: file, byteCount: byteCount),
                        managerLoad(network, file: file, byteCount: byteCount),
                        networkCall(
                            "the layer alone", makeNetwork(responding: byteCount), file: file, byteCount: byteCount),
                        curl(curlClient, url: url, byteCount: byteCount),
                        urlSession(session, url: url, byteCount: byteCount),
                    ]
                    .filter { contenders?.contains($0.name) ?? true }
                    // One at a time waits for the network more than it works.
                    let count = atATime == 1 ? calls / 2 : calls
                    let samples = try await compare(chosen, count: count, atATime: atATime, rounds: rounds)
                    let version = http1Only ? "HTTP/1.1" : "HTTP/2"
                    report("\(version), \(byteCount >> 10) KB, \(atATime) at a time", chosen, samples)
                }
            }
            try await client.shutdown()
            await ours.shutdown()
            session.invalidateAndCancel()
        }
    }
}
