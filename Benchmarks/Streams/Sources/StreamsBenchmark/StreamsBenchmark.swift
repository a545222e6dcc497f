import Foundation

/// The latency of an event of a stream, and the processor's time of idle streams.
@main
struct StreamsBenchmark {
    static let usage = """
        usage: StreamsBenchmark latency FOLDER [--events N] [--rounds N] [--pause MILLISECONDS]
                                [--python PYTHON --chromium CHROMIUM]
               StreamsBenchmark idle FOLDER [--streams N] [--seconds N]
        FOLDER has root.pem, server.pem and server.key.
        """

    static func main() async throws {
        // What is written to a process that has ended is an error, and not the end of this process.
        signal(SIGPIPE, SIG_IGN)
        guard CommandLine.arguments.count > 2 else { return misused() }
        let folder = CommandLine.arguments[2]
        let pause = integer("--pause") ?? 2
        switch CommandLine.arguments[1] {
        case "latency":
            let python = argument("--python")
            let chromium = argument("--chromium")
            guard (python == nil) == (chromium == nil) else { return misused() }
            try await Latency(
                folder: folder, eventCount: max(1, integer("--events") ?? 5000), roundCount: integer("--rounds") ?? 10,
                pauseMilliseconds: pause,
                peers: python.flatMap { python in chromium.map { (python: python, chromium: $0) } }
            ).run()
        case "idle":
            try await Idle(
                folder: folder, streamCount: max(1, integer("--streams") ?? 1000), seconds: integer("--seconds") ?? 75
            ).run()
        // The processes that the two parts start.
        case "serve":
            try await EventServer(folder: folder, pause: .milliseconds(pause), file: argument("--file")).run()
        case "follow":
            guard let port = integer("--port"), let count = integer("--streams") else { return misused() }
            try await IdleStreams.run(folder: folder, port: port, count: count)
        default: misused()
        }
    }

    private static func misused() {
        print(usage)
        exit(2)
    }

    private static func integer(_ name: String) -> Int? { argument(name).flatMap { Int($0) } }

    /// The value after a flag of the command line.
    private static func argument(_ name: String) -> String? {
        guard let index = CommandLine.arguments.firstIndex(of: name), index + 1 < CommandLine.arguments.count else {
            return nil
        }
        return CommandLine.arguments[index + 1]
    }
}

/// A measurement that did not happen as it has to.
struct Failed: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
