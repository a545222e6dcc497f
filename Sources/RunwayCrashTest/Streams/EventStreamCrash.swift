import ArgumentParser
import Foundation
import HTTPTypes
import Runway
import RunwayDemo
import RunwayStreams
import RunwayTesting
import RunwayTransport
import Synchronization

/// Kills the server of an event stream at random moments while it publishes. Checks that each client receives all
/// events once.
struct EventStreamCrash: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "streams",
        abstract: "Kill the server of an event stream at random, and check that each client saw every event once.",
        discussion: """
            EXIT CODES
              0  Each client received every number once and in order, and every
                 connection after its first resumed.
              1  Something was not so; the output says what.
              2  The test itself failed.
            """)

    @Option(help: "How many clients follow the stream.")
    var readers = 100

    @Option(help: "Store the events in this PostgreSQL database, and not in a file.")
    var database: String?

    @Option(help: "How many servers have the stream; several need a database. Clients move from one to another.")
    var hubs = 1

    @OptionGroup var killing: KillingOptions<EventStreamBug>

    func validate() throws {
        guard hubs == 1 || (hubs > 1 && database != nil) else {
            throw ValidationError("Several servers share a database, and not a file.")
        }
        guard killing.bug == nil || database == nil else {
            throw ValidationError("--bug can't be combined with a database.")
        }
    }

    func run() async throws { try await killing.run(play) }

    private func play(in folder: URL, _ random: inout SeededGenerator) async throws -> [String] {
        let file = folder.appending(path: "events.sqlite")
        var configuration = TransportConfiguration()
        configuration.maximumConnectionsPerOrigin = readers * 2
        let transport = try NIOTransport(configuration: configuration)
        var servers: [EventServer] = []
        var networks: [NetworkLayer] = []
        for _ in 0..<hubs {
            servers.append(try await serve(file, port: 0, pace: 0))
            networks.append(NetworkLayer(transport: transport, limits: LayerLimits(admission: .none, retrying: .none)))
        }
        func lead(_ index: Int, to server: Int) {
            let port = servers[server].port
            networks[index].configure(Numbers.self) { $0.baseURLs = [.release: "http://127.0.0.1:\(port)"] }
        }
        for index in 0..<hubs { lead(index, to: index) }
        let clients = (0..<readers).map { NumberReader($0, on: networks[$0 % hubs], hasPlaces: database != nil) }
        try await waitUntil("every client is connected", within: .seconds(300)) { clients.allSatisfy { $0.isCaughtUp } }
        let (kills, _) = try await killing.kill(every: 50...1500, &random) { random in
            let index = Int.random(in: 0..<hubs, using: &random)
            // The clients of the killed server reconnect to it, or continue at another server.
            lead(index, to: Int.random(in: 0..<hubs, using: &random))
            try await servers[index].process.kill()
            servers[index] = try await serve(file, port: servers[index].port, pace: 5)
            return []
        }
        for server in servers { try await server.process.kill() }
        for index in 0..<hubs {
            servers[index] = try await serve(file, port: servers[index].port, pace: 0)
            lead(index, to: index)
        }
        let last = servers.map { $0.last }.max() ?? 0
        // With a planted bug, some events never arrive. The wait also ends when the client has received enough events.
        if last > 0 {
            try? await waitUntil("every client has the last number", within: .seconds(300)) {
                clients.allSatisfy { $0.numbers.last == last || $0.numbers.count >= last }
            }
        }
        var findings = clients.flatMap { $0.findings(last: last) }
        for client in clients where client.texts != clients.first?.texts {
            findings.append("client \(client.index): it received other events than the first client.")
        }
        print("seed \(killing.start): \(kills + hubs) kills, \(last) events, \(clients.count) clients, \(hubs) servers")
        for client in clients { client.stop() }
        await transport.shutdown(waitingAtMost: .zero)
        for server in servers { try await server.process.kill() }
        return last == 0 ? ["nothing was published"] + findings : findings
    }

    /// A server process, its port, and the last number that was stored before it started.
    private typealias EventServer = (process: ChildProcess, port: Int, last: Int)

    private func serve(_ file: URL, port: Int, pace: Int) async throws -> EventServer {
        let server = try ChildProcess(
            ["event-server", "--file", file.path, "--port", "\(port)", "--pace", "\(pace)"]
                + killing.bugArguments + (database.map { ["--database", $0] } ?? []))
        let numbers = try await server.numbers(count: 2)
        return (server, numbers[0], numbers[1])
    }
}

private enum Numbers: APIService {
    static let name = "numbers"
    static let environments: [ServiceEnvironment: String] = [:]
    static let deadline = Duration.seconds(30)
}

private struct NumberEvents: EventStreamEndpoint {
    static let service = Numbers.self
    var path: Runway.EndpointPath { "events" }
    func encode(to encoder: any Encoder) {}
}

/// A client that records the events it receives.
private final class NumberReader: Sendable {
    let index: Int
    /// Whether the number of an event is its offset in the log. Otherwise its data is the number.
    private let hasPlaces: Bool
    private let events: EventSequence
    /// Guards the received numbers and texts, the number of connections, and the errors of later connections.
    private let received = Mutex<(numbers: [Int], texts: [String], connections: Int, faults: [String])>(([], [], 0, []))
    /// Guards the task that reads the events.
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(_ index: Int, on network: NetworkLayer, hasPlaces: Bool) {
        (self.index, self.hasPlaces) = (index, hasPlaces)
        var options = StreamOptions()
        options.backoff = .milliseconds(50)
        options.maximumBackoff = .milliseconds(500)
        events = network.events(of: NumberEvents(), options: options, key: "\(index)")
        let reading = Task { [weak self, events] in
            do {
                for try await element in events { self?.take(element) }
            } catch {
                self?.received.withLock { $0.faults.append("the stream ended: \(error)") }
            }
        }
        task.withLock { $0 = reading }
    }

    var isCaughtUp: Bool { events.isCaughtUp }
    var numbers: [Int] { received.withLock { $0.numbers } }
    var texts: [String] { received.withLock { $0.texts } }

    func stop() { task.withLock { $0 }?.cancel() }

    /// Returns the differences between the received and the published events, one sentence each.
    func findings(last: Int) -> [String] {
        let (numbers, _, _, faults) = received.withLock { $0 }
        var findings = faults.map { "client \(index): \($0)" }
        if let place = zip(numbers, 1...).first(where: { $0 != $1 }) {
            findings.append("client \(index): \(place.0) came where \(place.1) was due.")
        } else if numbers.count != last {
            findings.append("client \(index): \(numbers.count) events came of \(last).")
        }
        return findings
    }

    private func take(_ element: StreamElement) {
        received.withLock { received in
            switch element {
            case .event(let event):
                received.numbers.append((hasPlaces ? event.place.map { Int($0.offset) } : Int(event.text)) ?? -1)
                received.texts.append(event.text)
            case .continuity(let continuity):
                received.connections += 1
                if received.connections > 1, continuity != .resumed { received.faults.append("\(continuity)") }
            default: break
            }
        }
    }
}
