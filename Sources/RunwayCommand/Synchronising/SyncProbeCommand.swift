import ArgumentParser
import Dispatch
import Foundation

/// `runway sync-probe`: one device as a process, which a program drives.
struct SyncProbeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync-probe", abstract: "Be one device of a synchronised space, driven by lines of JSON.",
        usage: "runway sync-probe --server <url> --space <id> --file <path> [<options>]",
        discussion: """
            Reads one JSON object a line, and writes one a line. The table "item" has
            the columns a, b, c and rank (text), and n (integer). Rows and spaces of
            any text are mapped to UUIDs, and rows are shown by their texts on every
            device. The file keeps the device from run to run.

            LINES
              {"do":"txn","set":[{"table":"item","row":"1","values":{"a":"x"}},
                                 {"table":"item","row":"2","delete":true}]}
              {"do":"batch","where":[["n","<",5]],"values":{"b":"y"}}
              {"do":"read","table":"item"}
                  -> {"rows":[{"row":"1","values":{...},"pending":false}]}
              {"do":"sync"}         ends when a cycle ended -> {"problem":null}
              {"do":"state"}        -> {"waiting":0,"refused":[],"cursor":7,...}
              {"do":"connect"}, {"do":"disconnect"}
              {"do":"clock","offset":86400}    seconds
              {"do":"quit"}
            A line that can't be performed yields {"error":"..."}.

            EXIT CODES
              0    After "quit", or the end of the input.
              2    The command line, or a file that it names, can't be used.
              130  Ctrl-C. 143 is SIGTERM.
            """)

    @Option(help: ArgumentHelp("The server, whose routes are below \"sync\" and \"events\".", valueName: "url"))
    var server: String

    @Option(help: ArgumentHelp("The space: a UUID, or any text.", valueName: "id"))
    var space: String

    @Option(help: ArgumentHelp("The file of the device.", valueName: "path"), completion: .file())
    var file: String

    @Option(help: ArgumentHelp("The difference of the device's clock from the system's.", valueName: "seconds"))
    var deviceClockOffset = 0.0

    func run() async throws {
        try await Interruption.cancelling {
            let session: SyncProbeSession
            do {
                session = try await SyncProbeSession(
                    server: server, space: space, file: URL(fileURLWithPath: file), clockOffset: deviceClockOffset)
            } catch {
                throw CommandFailure("The file can't be used: \(error)")
            }
            while let line = await Self.nextLine() {
                guard let response = await session.perform(line) else { break }
                try Console.output.write(response + [UInt8(ascii: "\n")])
            }
            try await session.close()
        }
    }

    /// Reads a line, on a thread that may wait.
    private static func nextLine() async -> String? {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: readLine()) }
        }
    }
}
