import ArgumentParser
import Foundation
import HTTPTypes
import Hummingbird
import Runway
import RunwayDemo
import RunwayServer
import RunwayStreams
import RunwayTransport

/// Opens many streams to one server from other processes. Measures the memory per stream, the time until an event
/// reaches all streams, and the processor time of idle streams. Linux only.
struct OpenStreams: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open-streams",
        abstract: "Open many streams on one server process, and measure what they cost.",
        discussion: """
            A hundred streams are on each connection of HTTP/2 over TLS, in four
            processes. It reads /proc, which Linux has.

            EXIT CODES
              0  Every stream received every event, on its first connection.
              1  Something was not so; the output says what.
            """)

    @Option(help: "How many connections each of the four processes has.")
    var connections = 25

    @Option(help: "How many seconds the streams stay open without an event.")
    var quiet = 60.0

    @Option(help: "How many events are sent to all of them, one every three seconds.")
    var events = 10

    @Option(help: "How many seconds the clients wait for the last events.")
    var patience = 60.0

    func run() async throws {
        let server = try ChildProcess(["open-server"])
        guard let words = await server.nextLine()?.split(separator: " "), words.count == 3, let process = Int(words[2])
        else {
            throw CrashFailure("the server did not start")
        }
        let usage = ProcessUsage(process: process)
        let before = try usage.memory
        let start = ContinuousClock.now
        let clients = try (0..<4).map { _ in
            try ChildProcess([
                "open-clients", "--port", "\(words[0])", "--authority", "\(words[1])", "--connections",
                "\(connections)",
                "--events", "\(events)", "--limit", "\(quiet + 3 * Double(events) + patience)",
            ])
        }
        for client in clients {
            guard await client.nextLine() == "open" else { throw CrashFailure("clients could not connect") }
        }
        let count = 4 * connections * ManyStreams.perConnection
        print("\(count) streams were opened in \(ContinuousClock.now - start)")
        print(
            "memory of the server: \(before >> 10) KiB, and \((try usage.memory - before) / count) bytes for a stream")
        let idle = try usage.processorTime
        try await Task.sleep(for: .seconds(quiet))
        let used = try usage.processorTime - idle
        print(
            "processor's time of the server in \(quiet) s without an event: \(used), for a stream in an hour: \(used / count * Int(3600 / quiet))"
        )
        let (network, transport) = try ManyStreams.network(port: "\(words[0])", authority: "\(words[1])")
        for _ in 0..<events {
            _ = try await network.call(Publishing())
            try await Task.sleep(for: .seconds(3))
        }
        var isFine = true
        for client in clients {
            let report = await client.nextLine() ?? "the clients ended"
            print("an event at \(connections * ManyStreams.perConnection) streams: \(report)")
            isFine = isFine && report.hasSuffix(ManyStreams.success)
        }
        await transport.shutdown(waitingAtMost: .zero)
        for client in clients { try await client.kill() }
        try await server.kill()
        if !isFine { throw ExitCode(1) }
    }
}

/// The resource usage of a process, as Linux reports it.
private struct ProcessUsage {
    let process: Int

    var memory: Int {
        get throws {
            let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
            guard let count = line?.split(separator: " ").compactMap({ Int($0) }).first else {
                throw CrashFailure("the memory of a process is unknown")
            }
            return count << 10
        }
    }

    var processorTime: Duration {
        get throws {
            let line = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
            let fields = line.drop { $0 != ")" }.split(separator: " ")
            guard fields.count > 13, let user = Int(fields[12]), let system = Int(fields[13]) else {
                throw CrashFailure("the time of a process is unknown")
            }
            return .seconds(Double(user + system) / Double(sysconf(Int32(_SC_CLK_TCK))))
        }
    }
}

private enum ManyStreams: APIService {
    static let name = "many"
    static let environments: [ServiceEnvironment: String] = [:]
    static let deadline = Duration.seconds(120)
    static let perConnection = 100
    /// The end of a client's report if no connection and no event was lost.
    static let success = ", 0 reconnections, 0 events lost"

    static func network(port: String, authority: String) throws -> (NetworkLayer, NIOTransport) {
        let pem = String(decoding: Data(base64Encoded: authority) ?? Data(), as: UTF8.self)
        var configuration = TransportConfiguration(trust: .certificates(pem: [pem]))
        configuration.maximumConnectionsPerOrigin = 1
        let transport = try NIOTransport(configuration: configuration)
        let network = NetworkLayer(transport: transport, limits: LayerLimits(admission: .none, retrying: .none))
        network.configure(ManyStreams.self) { $0.baseURLs = [.release: "https://localhost:\(port)"] }
        return (network, transport)
    }
}

private struct ManyEvents: EventStreamEndpoint {
    static let service = ManyStreams.self
    var path: Runway.EndpointPath { "events" }
    func encode(to encoder: any Encoder) {}
}

private struct Publishing: Runway.Endpoint {
    static let service = ManyStreams.self
    static let method = HTTPRequest.Method.post
    var path: Runway.EndpointPath { "publish" }
    func encode(to encoder: any Encoder) {}
}

/// A stream server that prints its port, its certificate authority and its process id, and runs until it is killed.
struct OpenServerProcess: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "open-server", shouldDisplay: false)

    func run() async throws {
        var options = EventHubOptions()
        options.maximumConnectionsPerSource = options.maximumConnections
        let hub = try await EventHub(name: "many", options: options)
        let router = Router()
        EventStreamRoute(hub) { _, _ in EventPermission() }.add(to: router)
        router.post("publish") { _, _ in
            // All processes of one machine share this clock.
            try await hub.publish(PublishedEvent(topic: "times", data: "\(DispatchTime.now().uptimeNanoseconds)"))
            return "published"
        }
        let certificate = try DemoCertificate()
        try await router.serve(at: 0, with: certificate) { port in
            let authority = Data(certificate.authorityPEM.utf8).base64EncodedString()
            say("\(port) \(authority) \(ProcessInfo.processInfo.processIdentifier)")
        }
    }
}

/// Follows many streams, and prints `open` when all are connected. Prints the times of the events when all events have
/// arrived, or some seconds later.
struct OpenClientsProcess: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "open-clients", shouldDisplay: false)

    @Option var port: String
    @Option var authority: String
    @Option var connections: Int
    @Option var events: Int
    /// The number of seconds after the opening of the streams within which the last event has to arrive.
    @Option var limit: Double

    func run() async throws {
        let (times, continuation) = AsyncStream<Double?>.makeStream()
        var layers: [(NetworkLayer, NIOTransport)] = []
        var tasks: [Task<Void, any Error>] = []
        let count = connections * ManyStreams.perConnection
        for _ in 0..<connections {
            let (network, transport) = try ManyStreams.network(port: port, authority: authority)
            layers.append((network, transport))
            for index in 0..<ManyStreams.perConnection {
                let sequence = network.events(of: ManyEvents(), key: "\(index)")
                tasks.append(
                    Task {
                        for try await element in sequence {
                            switch element {
                            case .caughtUp: continuation.yield(nil)
                            case .event(let event):
                                let sent = UInt64(event.text) ?? 0
                                let now = DispatchTime.now().uptimeNanoseconds
                                continuation.yield(Double(now - min(sent, now)) / 1_000_000)
                            default: break
                            }
                        }
                    })
            }
        }
        var open = 0
        var milliseconds: [Double] = []
        for await time in times {
            if let time { milliseconds.append(time) } else { open += 1 }
            if time == nil, open == count {
                say("open")
                Task { [limit] in
                    try await Task.sleep(for: .seconds(limit))
                    continuation.finish()
                }
            }
            if milliseconds.count == count * events { break }
        }
        milliseconds.sort()
        func part(_ share: Double) -> Double {
            milliseconds.isEmpty ? 0 : milliseconds[Int(Double(milliseconds.count - 1) * share)].rounded()
        }
        let lost = count * events - milliseconds.count
        say(
            "p50 \(part(0.5)) ms, p99 \(part(0.99)) ms, the last \(part(1)) ms, \(open - count) reconnections, \(lost) events lost"
        )
        try await Task.sleep(for: .seconds(3600))
        withExtendedLifetime((layers, tasks)) {}
    }
}
