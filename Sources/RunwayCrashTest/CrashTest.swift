import ArgumentParser
import Foundation
import RunwayTesting

/// Kills clients with action logs and offline queues, and their servers, at random moments. Cuts the network between
/// them, and checks what arrived.
///
/// A tool for the developers of this package. Only this program contains the bugs that it can plant.
@main
struct CrashTest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "RunwayCrashTest",
        abstract: "Kill clients and servers at random, and check what arrived.",
        discussion: """
            EXIT CODES
              0  Every record that was acknowledged to its writer is at the server
                 once, none was invented, and each account's are in order. The same
                 is true of the effects of changes, of which each was reported, and
                 each that a client had begun to send has its effect.
              1  Something was not so; the output says what.
              2  The test itself failed.
            """,
        subcommands: [
            FileCrash.self, PictureProcess.self,
            EventStreamCrash.self, ChatCrash.self, SyncCrash.self, TableCrash.self, OpenStreams.self, TableProcess.self,
            WriterProcess.self, ChangerProcess.self,
            ServerProcess.self, EventServerProcess.self, ChatServerProcess.self, SyncServerProcess.self,
            OpenServerProcess.self, OpenClientsProcess.self, BundleCrash.self, BundleDevice.self,
        ])

    @Option(help: "How long processes are killed.")
    var seconds = 60.0

    @Option(help: "How many processes write, each its own log.")
    var writers = 2

    @Option(help: "How many processes make changes, each with its own offline queue.")
    var changers = 2

    @Option(help: "How many servers store in the database.")
    var servers = 1

    @Option(help: "Decides what is killed or cut, and when.")
    var seed = UInt64.random(in: 0...UInt64.max)

    @Option(help: "A bug that the check must find: \(PlantedBug.allCases.map(\.rawValue).joined(separator: ", ")).")
    var plant: PlantedBug?

    @Option(help: "Store at the server in this PostgreSQL database, and not in a file.")
    var postgres: String?

    func validate() throws {
        guard seconds > 0, (0...20).contains(writers), (0...20).contains(changers), writers + changers > 0 else {
            throw ValidationError(
                "--seconds is above 0, and --writers and --changers are from 0 to 20, of which one is above 0.")
        }
        guard (1...10).contains(servers), servers == 1 || postgres != nil else {
            throw ValidationError(
                "--servers is from 1 to 10, and 1 without --postgres: one process writes a SQLite file.")
        }
    }

    func run() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "runway-crash-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try await reporting {
            let clients = ClientFiles.all(in: folder, writers: writers, changers: changers)
            let run = CrashRun(
                folder: folder, clients: clients, serverCount: servers, bug: plant, postgres: postgres,
                random: SeededGenerator(seed: seed))
            let totals = try await run.play(for: .seconds(seconds))
            let records = try await RecordCheck(clients.filter { $0.kind == .writer }, in: folder, postgres)
            let changes = try ChangeCheck(clients.filter { $0.kind == .changer }, in: folder)
            print("seed \(seed): \(totals); \(records.totals); \(changes.totals)")
            let findings =
                totals.unsent.map { "the rest of \($0) did not arrive" } + records.findings + changes.findings
            return findings.isEmpty ? [] : findings.prefix(19) + ["See \(folder.path)."]
        }
        try FileManager.default.removeItem(at: folder)
    }
}

/// A bug that the test adds to a client or a server, to prove that its check finds the bug.
enum PlantedBug: String, CaseIterable, ExpressibleByArgument {
    /// A record is reported as durable before its commit, or a change before it is stored.
    case earlyAcknowledgement
    /// A batch is sent again with another number, to a server that identifies batches only by number.
    case changedNumber
    /// The log receives a success response before the server has the batch, and removes the records.
    case earlyRemoval
    /// A change is sent again with another idempotency key.
    case changedKey
    /// A change is sent before earlier stored changes.
    case overtaking
    /// The server loses the idempotency keys of changes that it has executed.
    case forgottenKeys
    /// A change is sent before it is stored.
    case unwritten
}
