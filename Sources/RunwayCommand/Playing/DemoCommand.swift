import ArgumentParser
import Foundation
import Runway
import RunwayDemo
import RunwayJSON
import Synchronization

/// `runway demo`: the listings app, played against its backend.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Play a session of a listings app against a backend of its own.",
        discussion: """
            Starts the backend of "runway serve" in this process, on a free port of
            127.0.0.1, over TLS and HTTP/2. Then an app of several controllers is
            used as a person would use it: lists from three teams through one
            reformer into one row view, one response through two reformers, a refresh
            pulled five times, a filter changed faster than the server responds, a
            screen left while its call is in flight, a bad parameter, services in
            trouble.

            And requests that are not needed are not sent: a details screen opened often,
            a refresh storm of eight screens, a list scrolled to its end while it is
            edited, nine small calls in one request, an access token that expires
            while ten calls are in flight, a host that fails and recovers.

            Last, calls to a host with four addresses of the loopback, near and far:
            one is dead, and one fails while a call is in flight, which is hedged.
            A table shows which addresses were dialled, which one won, and why.

            The output has the screens as their views show them; then every call with
            its decisions and its duration; then the totals: calls (every load,
            whatever its outcome), how many were sent and why the others were
            not, requests on the wire and why calls made more than one,
            bytes of the bodies of all responses.

            The demo verifies itself: the outcome of every call, the rows against
            the listings, and the requests and bytes in the app's records against
            those that the backend counted.

            --json prints one object: "calls", "callsFlown", "callsNotFlown" (counts
            by reason), "requestsOnTheWire", "requestsRepeated" (counts by reason),
            "bytes", "flights" (a record for every call), "envelopes" (a record for
            every request that carried several calls), "hosts" (the results
            of the last part), "scenes", "seed" and "problems".

            EXAMPLES
              runway demo
              runway demo --seed 7
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

    @Flag(help: "Print one JSON object for programs.")
    var json = false

    func run() async throws {
        let scene = SceneTitle()
        let report: DemoReport
        do {
            report = try await Interruption.cancelling {
                try await ProgressLine.during({ _ in scene.text }) {
                    var report = try await DemoSession.play(seed: seed) { scene.text = $0 }
                    scene.text = "One host, four addresses"
                    let hosts = try await HostTour.play(seed: seed)
                    report.problems += hosts.problems
                    report.hosts = hosts
                    return report
                }
            }
        } catch let error as Interruption.Signalled {
            throw error
        } catch {
            throw CommandFailure(
                "The session could not be played: \(error.redactedDescription).", status: ExitStatus.noResponse)
        }
        if json {
            try Console.output.write(try JSONDocumentEncoder().encode(report) + [UInt8(ascii: "\n")])
        } else {
            try Console.output.write("\(report)\n")
        }
        if !report.problems.isEmpty { throw ExitCode(ExitStatus.refused) }
    }
}

/// The title of the scene that is being played.
private final class SceneTitle: Sendable {
    /// Guards the title.
    private let title = Mutex("")

    var text: String {
        get { title.withLock { $0 } }
        set { title.withLock { $0 = newValue } }
    }
}
