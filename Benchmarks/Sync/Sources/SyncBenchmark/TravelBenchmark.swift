import Foundation
import RunwayTestServer

/// Measures how long changes travel between two devices, which are processes of their own as the server is.
enum TravelBenchmark {
    static func backlog(in folder: URL) async throws {
        for (milliseconds, bound) in [(0, 5.0), (150, 8.0)] {
            var times: [Double] = []
            for round in 0..<Figures.rounds {
                let place = folder.appending(path: "backlog-\(milliseconds)-\(round)")
                times.append(
                    try await withDevices(in: place, roundTrip: .milliseconds(milliseconds)) { writer, reader in
                        try writer.send("fill 10000")
                        _ = try await writer.next("filled")
                        try reader.send("online")
                        _ = try await reader.next("seen")
                        try writer.send("online")
                        let start = try await writer.next("online")[0]
                        let end = try await reader.next("seen") { $0[0] == 10_000 }[2]
                        return Double(end - start) / 1e9
                    })
            }
            Figures.report(
                "a backlog of 10,000 operations, round trip \(milliseconds) ms", times, "s", .atMost(bound))
        }
    }

    static func latency(in folder: URL) async throws {
        var (medians, late): ([Double], [Double]) = ([], [])
        for round in 0..<Figures.rounds {
            let place = folder.appending(path: "latency-\(round)")
            let times = try await withDevices(in: place, roundTrip: .zero) { writer, reader in
                for device in [writer, reader] { try device.send("online") }
                var times: [Double] = []
                for number in 1...220 {
                    try writer.send("write \(number)")
                    let start = try await writer.next("wrote")[1]
                    let end = try await reader.next("seen") { $0[1] == number }[2]
                    // The first writes find connections that are not open yet.
                    if number > 20 { times.append(Double(end - start) / 1e6) }
                    // The devices are at rest before the next write.
                    try await Task.sleep(for: .milliseconds(20))
                }
                return times.sorted()
            }
            medians.append(times[times.count / 2])
            late.append(times[times.count * 99 / 100])
        }
        Figures.report("from a write to the observer of another device, median", medians, "ms", .atMost(25))
        Figures.report("from a write to the observer of another device, 99th percentile", late, "ms", .atMost(100))
    }

    private static func withDevices<Value>(
        in folder: URL, roundTrip: Duration, _ body: (_ writer: Child, _ reader: Child) async throws -> Value
    ) async throws -> Value {
        let (server, port) = try await startServer(at: folder.appending(path: "server/spaces.sqlite"))
        let network = try await BadNetwork(to: port, addresses: 1)
        try await network.paths[0].set(.passing(PathConditions(roundTrip: roundTrip)))
        let (url, space) = ("http://\(network.addresses[0]):\(network.port)", UUID().uuidString)
        let devices = try ["writer", "reader"].map { name in
            try Child("device", url, space, folder.appending(path: "\(name)/notes.sqlite").path)
        }
        let value = try await body(devices[0], devices[1])
        for child in devices + [server] { child.end() }
        await network.shutDown()
        return value
    }

    static func startServer(at file: URL) async throws -> (server: Child, port: Int) {
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        let server = try Child("serve", file.path)
        return (server, try await server.next("port")[0])
    }
}
