import ArgumentParser
import Foundation
import RunwayBundles
import RunwayScripts

/// `runway patch rehearse`: runs recorded calls through scripts, and prints what differs.
struct RehearsePatch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rehearse", abstract: "Run recorded calls through scripts, and print the differences.",
        usage: "runway patch rehearse --bundle <dir> --records <file> [--json]",
        discussion: """
            The scripts are the files of the folder below scripts/. Each recorded call
            whose point they patch is repeated, and the result is compared with the
            recorded one of the native function: the command never calls native code.
            Numbers are compared by value, and a member that is null equals an absent
            one.

            PATCHED is the median time of a call, and its 99th percentile in
            parentheses. LATE calls took longer than 200 ms; on the main thread an
            app waits 8 ms. TYPE counts results that are not JSON, or that exceed
            4 MiB. The app's own test also finds values of a type that the app can't
            decode.

            The output contains what people wrote on the device.
            """)

    @Option(help: ArgumentHelp("The folder of the bundle.", valueName: "dir"), completion: .directory)
    var bundle: String

    @Option(help: ArgumentHelp("The recorded calls.", valueName: "file"), completion: .file())
    var records: String

    @Flag(help: "Print one JSON object for programs. Times are in seconds.")
    var json = false

    @OptionGroup var colour: ColourOption

    func run() async throws {
        let records = RecordedCalls(try WholeFile.bytes(records, of: "--records"))
        guard records.count > 0 else {
            throw CommandFailure("The file \"\(self.records)\" of --records has no recorded calls.")
        }
        let rehearsal = try await Interruption.cancelling { try await rehearse(records) }
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            var text = JSONText(for: .output)
            try text.write(Array(try encoder.encode(RehearsalReport(rehearsal, records)))[...])
        } else {
            try Console.output.write("\(rehearsal)\n")
        }
        if records.damagedLineCount > 0 {
            Console.error.warn("Damaged lines, which are skipped: \(records.damagedLineCount).")
        }
        if records.omittedCount > 0 { Console.error.warn("Calls that were not recorded: \(records.omittedCount).") }
        if records.isFull { Console.error.warn("The file was full: later calls are missing.") }
        if !rehearsal.isEqual { throw ExitCode(ExitStatus.refused) }
    }

    private func rehearse(_ records: RecordedCalls) async throws -> PatchRehearsal {
        let marker = URL.temporaryDirectory.appending(path: "runway-patch-\(UUID().uuidString)")
        TemporaryFiles.insert(marker.path)
        defer {
            try? FileManager.default.removeItem(at: marker)
            TemporaryFiles.remove(marker.path)
        }
        do {
            let bundle = try ScriptBundle(EmbeddedBundle(URL(filePath: bundle), version: 0), name: bundle, runtime: "1")
            let scripts = try ScriptRuntime(marker: marker, build: RunwayTool.version)
            try await scripts.load(bundle)
            return try await scripts.rehearse(records)
        } catch let error as ScriptError {
            let status = error.kind == .unsupported ? ExitStatus.unusable : ExitStatus.refused
            throw CommandFailure("The scripts of \"\(bundle)\" can't be loaded: \(error)", status: status)
        }
    }
}

/// The output of `runway patch rehearse --json`.
private struct RehearsalReport: Encodable {
    let points: [PatchRehearsal.Point]
    let problems: [PatchRehearsal.Call]
    let untestedPatches: [String]
    let damagedLines, omittedCalls: Int
    let isFull: Bool

    init(_ rehearsal: PatchRehearsal, _ records: RecordedCalls) {
        (points, problems, untestedPatches) = (rehearsal.points, rehearsal.problems, rehearsal.untestedPatches)
        (damagedLines, omittedCalls, isFull) = (records.damagedLineCount, records.omittedCount, records.isFull)
    }
}
