import Foundation

/// The time from just before an event is published until the client received it, beside a bare round trip over TCP.
///
/// One event is on its way at a time: the next is published a pause after the last was received and reported, so that what is measured is
/// latency without queueing, of processes that sleep before, as they do between rare events. A bare round trip comes a pause after the
/// last measurement, too. The ways take turns in rounds, so that other load disturbs all of them alike.
struct Latency {
    /// Has the certificates; the file of events is made there.
    let folder: String
    /// How many events each way is measured with.
    let eventCount: Int
    let roundCount: Int
    let pauseMilliseconds: Int
    /// The programs for the ways with the server of PyPI and with the browser; `nil` measures the hub's two logs instead.
    let peers: (python: String, chromium: String)?

    private static let warmUpCount = 200

    @concurrent func run() async throws {
        let server = try await startHub(file: nil)
        let echo = try EchoConnection(port: server.echoPort)
        let pause = Duration.milliseconds(pauseMilliseconds)
        let bare = Way(name: "bare TCP round trip") {
            try await Task.sleep(for: pause)
            return try echo.roundTrip(byteCount: TimedData.wireByteCount)
        }
        var ways = [bare, try await eventStream("EventHub in memory", server.process, port: server.port)]
        if let peers {
            // Each way has a server of its own, so that no event is sent twice.
            let hub = try await startHub(file: nil)
            ways.append(try await eventSource(peers, "EventHub in memory", hub.process, port: hub.port))
            let first = try await startPeer(peers.python)
            ways.append(try await eventStream("aiohttp-sse", first.process, port: first.port))
            let second = try await startPeer(peers.python)
            ways.append(try await eventSource(peers, "aiohttp-sse", second.process, port: second.port))
        } else {
            let hub = try await startHub(file: "\(folder)/events.sqlite")
            ways.append(try await eventStream("EventHub in SQLite", hub.process, port: hub.port))
        }
        report(ways, try await measure(ways))
        for way in ways { try await way.end() }
    }

    private func measure(_ ways: [Way]) async throws -> [[Double]] {
        for way in ways {
            for _ in 0..<Self.warmUpCount { _ = try await way.measure() }
        }
        var times = ways.map { _ in [Double]() }
        let rounds = max(1, min(roundCount, eventCount))
        for round in 0..<rounds {
            for offset in ways.indices {
                // Another begins each round.
                let index = (offset + round) % ways.count
                for _ in 0..<(eventCount / rounds) {
                    times[index].append(Double(try await ways[index].measure()) / 1000)
                }
            }
        }
        return times
    }

    private func report(_ ways: [Way], _ times: [[Double]]) {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        print(
            """
            \(cores) cores; \(times[0].count) events of \(TimedData.byteCount) bytes each way, one at a time, \
            \(pauseMilliseconds) ms after the last; microseconds
            """)
        let trip = (part(0.5, of: times[0]), part(0.99, of: times[0]))
        for (way, own) in zip(ways, times) {
            let (middle, late) = (part(0.5, of: own), part(0.99, of: own))
            print(
                way.name.padding(toLength: 46, withPad: " ", startingAt: 0)
                    + String(
                        format: "p50 %8.1f, ×%.2f of a round trip, ×%.2f of half;  p99 %8.1f, ×%.2f, ×%.2f", middle,
                        middle / trip.0, 2 * middle / trip.0, late, late / trip.1, 2 * late / trip.1))
        }
    }

    /// The time that a share of them does not exceed.
    private func part(_ share: Double, of times: [Double]) -> Double {
        times.sorted()[Int(Double(times.count - 1) * share)]
    }
}

/// A way of an event from a server to a client, or a round trip.
private struct Way {
    let name: String
    /// Measures one event, in nanoseconds.
    let measure: () async throws -> Int64
    /// Ends the processes that it has.
    var end: () async throws -> Void = {}
}

// The servers and the clients.
extension Latency {
    private func startHub(file: String?) async throws -> (process: ChildProcess, port: Int, echoPort: Int) {
        let arguments = ["serve", folder, "--pause", "\(pauseMilliseconds)"]
        let process = try ChildProcess(nil, arguments + (file.map { ["--file", $0] } ?? []))
        let ports = await process.nextLine()?.split(separator: " ").compactMap { Int($0) } ?? []
        guard ports.count == 2 else { throw Failed("the server did not start") }
        return (process, ports[0], ports[1])
    }

    private func startPeer(_ python: String) async throws -> (process: ChildProcess, port: Int) {
        let process = try ChildProcess(
            python, ["peers/event_server.py", folder, "\(pauseMilliseconds)", "\(TimedData.byteCount)"])
        guard let port = await process.nextLine().flatMap({ Int($0) }) else {
            throw Failed("the server of PyPI did not start")
        }
        return (process, port)
    }

    private func eventStream(_ server: String, _ process: ChildProcess, port: Int) async throws -> Way {
        let client = try await EventClient(folder: folder, port: port)
        try await client.open()
        return Way(name: "\(server) to EventStream") {
            try process.writeLine()
            return try await client.next()
        } end: {
            try await process.end()
        }
    }

    private func eventSource(
        _ peers: (python: String, chromium: String), _ server: String, _ process: ChildProcess, port: Int
    ) async throws -> Way {
        let browser = try ChildProcess(
            peers.python, ["peers/event_source.py", peers.chromium, "https://127.0.0.1:\(port)/"])
        guard await browser.nextLine() == "open" else { throw Failed("the browser did not open the stream") }
        return Way(name: "\(server) to Chromium's EventSource") {
            try process.writeLine()
            guard let latency = await browser.nextLine().flatMap({ Int64($0) }) else {
                throw Failed("the browser's stream was interrupted")
            }
            return latency
        } end: {
            try await browser.end()
            try await process.end()
        }
    }
}
