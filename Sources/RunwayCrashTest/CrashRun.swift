import Foundation
import RunwayDemo
import RunwayTestServer
import RunwayTesting

/// Starts clients and servers. Kills them, and cuts the network between them, at random moments. Then lets the
/// remaining records and changes arrive.
struct CrashRun {
    struct Totals: CustomStringConvertible {
        var clientKills = 0
        var serverKills = 0
        var cuts = 0
        var outages = 0
        /// The clients that could not send their remaining records within a minute.
        var unsent: [String] = []

        var description: String {
            "\(clientKills) kills of clients, \(serverKills) of servers, \(cuts) cuts and \(outages) outages of the network"
        }
    }

    /// A server process, and the relay through which clients reach it.
    private final class Server {
        let port: Int
        let network: BadNetwork
        var process: ChildProcess

        init(_ process: ChildProcess) async throws {
            (port, self.process) = (try await process.numbers(count: 1)[0], process)
            network = try await BadNetwork(to: port, addresses: 1)
        }

        var path: NetworkPath { network.paths[0] }
        var url: String { "http://\(path.address):\(network.port)" }
    }

    let folder: URL
    let clients: [ClientFiles]
    let serverCount: Int
    let bug: PlantedBug?
    let postgres: String?
    var random: SeededGenerator

    /// Kills processes for some time. Then lets every client send its remaining records, and ends all processes.
    func play(for time: Duration) async throws -> Totals {
        var (random, totals) = (random, Totals())
        try FileManager.default.createDirectory(
            at: ServerFiles(in: folder).ledger.deletingLastPathComponent(), withIntermediateDirectories: true)
        var servers: [Server] = []
        for _ in 0..<serverCount { servers.append(try await Server(ChildProcess(serverArguments()))) }
        // If the servers share their storage, a restarted client may use another server.
        func start(_ files: ClientFiles, _ arguments: [String] = []) throws -> ChildProcess {
            let server = servers.randomElement(using: &random)
            return try ChildProcess(clientArguments(files, server?.url ?? "") + arguments)
        }
        var processes: [ChildProcess] = []
        for files in clients {
            try FileManager.default.createDirectory(at: files.folder, withIntermediateDirectories: true)
            processes.append(try start(files))
        }
        let end = ContinuousClock.now + time
        while ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(Int.random(in: 1...250, using: &random)))
            let index = Int.random(in: 0..<clients.count, using: &random)
            let server = Int.random(in: 0..<serverCount, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                try await processes[index].kill()
                processes[index] = try start(clients[index])
                totals.clientKills += 1
            case 5..<7:
                try await servers[server].process.kill()
                servers[server].process = try ChildProcess(serverArguments(port: servers[server].port))
                totals.serverKills += 1
            case 7..<9:
                servers[server].path.cut()
                totals.cuts += 1
            default:
                try await servers[server].path.set(.refusing)
                try await Task.sleep(for: .milliseconds(Int.random(in: 1...300, using: &random)))
                try await servers[server].path.set(.passing(PathConditions()))
                totals.outages += 1
            }
        }
        for process in processes { try await process.kill() }
        for files in clients where try await start(files, ["--drain"]).end() != 0 { totals.unsent.append(files.name) }
        for server in servers {
            try await server.process.kill()
            await server.network.shutDown()
        }
        return totals
    }

    // An option of a child process must not share its name with an option of the test tool, since the tool would
    // consume it.
    private func serverArguments(port: Int = 0) -> [String] {
        ["server", "--file", ServerFiles(in: folder).actions.path, "--port", "\(port)"]
            + ["--takes-changes"] + (postgres.map { ["--database", $0] } ?? []) + bugArguments
    }

    private func clientArguments(_ files: ClientFiles, _ url: String) -> [String] {
        [files.kind.rawValue, "--files", files.folder.path, "--url", url] + bugArguments
    }

    private var bugArguments: [String] { bug.map { ["--bug", $0.rawValue] } ?? [] }
}
