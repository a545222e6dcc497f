import ArgumentParser
import Foundation
import RunwayTesting

/// Kills the writers of action logs and their server at random instants, cuts the network between them, and checks what arrived.
///
/// It is a tool for the developers of this package. The bugs that it can plant are in this program alone.
@main
struct CrashTest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "RunwayCrashTest",
        abstract: "Kill writers and server of an action log at random, and check what arrived.",
        discussion: """
            EXIT CODES
              0  Every record that was acknowledged to its writer is at the server
                 once, none was invented, and each writer's are in order.
              1  Something was not so; the output says what.
              2  The test itself failed.
            """,
        subcommands: [WriterProcess.self, ServerProcess.self])

    @Option(help: "How long processes are killed.")
    var seconds = 60.0

    @Option(help: "How many processes write, each its own log.")
    var writers = 3

    @Option(help: "Decides what is killed or cut, and when.")
    var seed = UInt64.random(in: 0...UInt64.max)

    @Option(help: "A bug that the check must find: \(PlantedBug.allCases.map(\.rawValue).joined(separator: ", ")).")
    var plant: PlantedBug?

    @Option(help: "Store at the server in this PostgreSQL database, and not in a file.")
    var postgres: String?

    func validate() throws {
        guard seconds > 0, (1...20).contains(writers) else {
            throw ValidationError("--seconds is above 0, and --writers from 1 to 20.")
        }
    }

    func run() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "runway-crash-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let findings: [String]
        do {
            let run = CrashRun(
                folder: folder, writerCount: writers, bug: plant, postgres: postgres,
                random: SeededGenerator(seed: seed))
            let totals = try await run.play(for: .seconds(seconds))
            let check = try await CrashCheck(folder: folder, writerCount: writers, postgres: postgres)
            findings = totals.unsent.map { "the rest of writer \($0) did not arrive" } + check.findings
            print("seed \(seed): \(totals), \(check.totals)")
        } catch {
            try? FileManager.default.removeItem(at: folder)
            FileHandle.standardError.write(Data("The test failed: \(error)\n".utf8))
            throw ExitCode(2)
        }
        for finding in findings.prefix(20) { print(finding) }
        if findings.isEmpty { try FileManager.default.removeItem(at: folder) } else { print("See \(folder.path).") }
        if !findings.isEmpty { throw ExitCode(1) }
    }
}

/// A bug that this program adds to the halves of the action log, so that the check is known to find it.
enum PlantedBug: String, CaseIterable, ExpressibleByArgument {
    /// The writer reports a record as durable before its commit.
    case earlyAcknowledgement
    /// A batch arrives with another number when it is sent again.
    case changedNumber
    /// The log gets a response before the server has one, and removes the records.
    case earlyRemoval
}
