import ArgumentParser
import Foundation
import Runway
import RunwayDemo
import Synchronization

/// `runway demo`: runs the listings app against its backend.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Play a session of a listings app against a backend of its own.",
        discussion: """
            Starts the backend of "runway serve" in this process, on a free port of
            127.0.0.1, over TLS and HTTP/2. Then an app of several controllers is
            used as a person would use it: lists of three teams, a home opened again
            and again, a refresh pulled five times, an edited list, an access token
            that expires under ten calls, a server that is down for a while. Then
            signed calls to a server that verifies them: forged, replayed, tampered,
            by a clock that is wrong, and under a key that is rotated. Then apps in
            processes of their own: one is killed while it sends its action log, the
            other opens a home and makes offers without a network, and is killed
            when it is back. Then two users chat, and one writes without a network.
            Then an app is killed, and shows without a server what it has saved.
            Then two devices of one user change the same notes, one without a network.
            Then a page comes in signed bundles, of which one is broken, to 41 devices.
            Last, a host with four addresses of the loopback, near and far, of which
            one is dead and one fails while a call is in flight.

            For each part the output says what the user did, how many calls that were
            and how many requests they took, and what the layer did; then the totals
            of the app's screens, without the parts after the outage, and which
            addresses were dialled and used. --verbose prints each screen and, except
            in the parts log, train, chat, saving, devices and bundles, each call with
            its decisions and its duration instead.

            The demo verifies itself: the outcome of every call, the rows against
            the listings, and the requests and bytes in the app's records against
            those that the backend counted.

            --json prints one object: "calls", "callsSent", "callsNotSent" (counts
            by reason), "requestsOnTheWire", "requestsRepeated" (counts by reason),
            "bytes", "flights" (a record for every call), "envelopes" (a record for
            every request that carried several calls), all of them for the parts up to
            the outage; "signing", "hosts" (both with "flights" of their own), "log",
            "train", "chat", "saving", "devices" and "bundles" (the results of the last
            parts), "scenes", "seed" and "problems".

            PARTS, for --scene
              \(Self.names)

            EXAMPLES
              runway demo
              runway demo --seed 7 --scene outage
              runway demo --json | python3 -m json.tool

            EXIT CODES
              0    Every call and every screen was as it should be.
              1    Something was not; the last lines, or "problems", say what.
              2    The command line can't be used.
              3    The backend could not be started.
              130  Ctrl-C.
            """)

    @Option(help: ArgumentHelp("Decides every listing and every edit of them.", valueName: "number"))
    var seed: UInt64 = 1

    @Option(
        help: ArgumentHelp("Play this part alone.", valueName: "name"),
        completion: .list(DemoPart.allCases.map(\.rawValue)),
        transform: { name in
            guard let part = DemoPart(rawValue: name) else {
                throw ValidationError(
                    "There is no part \"\(name)\"; there are \(DemoPart.allCases.map(\.rawValue).joined(separator: ", "))."
                )
            }
            return part
        })
    var scene: DemoPart?

    @Flag(help: "Print each screen, and each call with its decisions.")
    var verbose = false

    @Flag(help: "Print one JSON object for programs.")
    var json = false

    func validate() throws {
        if json, verbose { throw ValidationError("--json prints everything already: leave out --verbose.") }
    }

    func run() async throws {
        // Guards the title of the current scene.
        let title = Mutex("")
        let parts = scene.map { [$0] } ?? Set(DemoPart.allCases)
        let report: DemoReport
        do {
            report = try await Interruption.cancelling {
                try await ProgressLine.during({ _ in title.withLock { $0 } }) {
                    try await DemoReport.play(seed: seed, parts: parts) { scene in title.withLock { $0 = scene } }
                }
            }
        } catch let error as Interruption.Signalled {
            throw error
        } catch {
            throw CommandFailure(
                "The session could not be played: \(error.redactedDescription).", status: ExitStatus.noResponse)
        }
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            try Console.output.write(Array(try encoder.encode(report)) + [UInt8(ascii: "\n")])
        } else if verbose {
            try Console.output.write("\(report)\n")
        } else {
            try Console.output.write(DemoStory.text(of: report, for: .output))
        }
        if !report.problems.isEmpty { throw ExitCode(ExitStatus.refused) }
    }

    /// The names of the parts, wrapped at the width of the help.
    private static var names: String {
        DemoPart.allCases.map(\.rawValue).reduce(into: [""]) { lines, name in
            let line = lines[lines.count - 1]
            let longer = line.isEmpty ? name : "\(line), \(name)"
            if longer.count > 60 { lines.append(name) } else { lines[lines.count - 1] = longer }
        }.joined(separator: ",\n  ")
    }
}

/// Runs the log tour of `runway demo` in a separate process, so that the demo can kill it.
struct DemoLogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: LogTour.commandName, shouldDisplay: false)

    @Argument var file: String
    @Argument var url: String
    @Argument var count: Int
    @Flag var untilKilled = false

    func run() async throws {
        try await LogTour.record(count, in: URL(fileURLWithPath: file), sendingTo: url, untilKilled: untilKilled)
    }
}

/// Runs the train tour of `runway demo` in separate processes, so that the demo can kill and restart two of them.
struct DemoTrainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: TrainTour.commandName, shouldDisplay: false)

    @Argument var run: TrainTour.Run
    @Argument var folder: String
    @Argument var url: String

    func run() async throws { try await TrainTour.use(run, in: URL(fileURLWithPath: folder), calling: url) }
}

/// Runs the saving tour of `runway demo` in processes of its own, so that the demo can kill two of them.
struct DemoSavingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: SavingTour.commandName, shouldDisplay: false)

    @Argument var run: SavingTour.Run
    @Argument var folder: String
    @Argument var url: String

    func run() async throws { try await SavingTour.use(run, in: URL(fileURLWithPath: folder), calling: url) }
}

/// Runs the tour of two devices of `runway demo` in processes of its own, so that the demo can kill two of them.
struct DemoDevicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: DevicesTour.commandName, shouldDisplay: false)

    @Argument var run: DevicesTour.Run
    @Argument var folder: String
    @Argument var url: String

    func run() async throws {
        try await DevicesTour.use(run, in: URL(fileURLWithPath: folder), calling: url) { line in
            if run != .atWork { try await ChildProcess.waitForKill(saying: line) }
            FileHandle.standardOutput.write(Data("\(line)\n".utf8))
        }
    }
}

extension TrainTour.Run: ExpressibleByArgument {}
extension SavingTour.Run: ExpressibleByArgument {}
extension DevicesTour.Run: ExpressibleByArgument {}
