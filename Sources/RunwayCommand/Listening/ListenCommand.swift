import ArgumentParser
import Foundation
import Runway

/// `runway listen`: prints the events or messages that a server pushes, as they arrive.
struct ListenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "listen", abstract: "Print what a server pushes: an event stream, or a WebSocket.",
        usage: "runway listen <url> [<items> ...] [<options>]",
        discussion: """
            http:// and https:// are streams of server-sent events, ws:// and wss://
            WebSockets. Without a scheme the URL is that of a stream, by http on
            this machine (localhost, 127.0.0.1, [::1]) and by https elsewhere.
            Items are name==value for the query and name:value for header fields.

            A connection that is lost is opened again, after a wait. Each begins
            with a line that says whether anything is missing: a stream resumes
            after its last id, a WebSocket can't. Remarks about connections are on
            standard error.

            EXAMPLES
              runway listen :8080/events
              runway listen https://api.example.com/events --topics rentals --json
              runway listen api.example.com/events 'Authorization:@token' --after e-7
              runway listen wss://api.example.com/chat --count 1

            EXIT CODES
              0    The server ended it, or --count has come.
              1    The server refused, or what it sent is no stream.
              2    The command line, or a file that it names, can't be used.
              3    No connection at the start: no network, no trust (TLS), or a
                   timeout.
              130  Ctrl-C. 143 is SIGTERM.
            """)

    /// The URL. It is declared optional, so that the parser reports a mistake in the options first.
    @Argument(help: "The URL, or a part of it: host/path, :port/path.")
    var url: String?

    @Argument(help: "Parts of the request: name==value, name:value.")
    var items: [String] = []

    @Option(
        help: ArgumentHelp("The topics that a server of Runway is asked for, with commas.", valueName: "names"))
    var topics: String?

    @Option(help: ArgumentHelp("Continue a stream after the event with this id.", valueName: "id"))
    var after: String?

    @Option(help: ArgumentHelp("End after so many events or messages.", valueName: "number"))
    var count: Int?

    @OptionGroup var connecting: ConnectionOptions

    @Flag(help: "Print one JSON object a line.")
    var json = false

    @OptionGroup var colour: ColourOption

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count needs a number above 0.") }
    }

    func run() async throws {
        guard let url else { throw ValidationError("Missing expected argument '<url>'") }
        let address = try ListenAddress(url)
        if address.isWebSocket, topics != nil || after != nil {
            throw CommandFailure("--topics and --after are for event streams: a WebSocket has neither topics nor ids.")
        }
        let request = try ListenRequest(
            address.target, items, topics: topics.map { Set($0.split(separator: ",").map(String.init)) })
        connecting.warnIfInsecure(address.target)
        let session = try ListenSession(connecting, to: address.target)
        let printer = ListenPrinter(isJSON: json)
        try await Interruption.cancelling { [after, count] in
            if address.isWebSocket {
                try await session.follow(webSocket: request, count: count, printer)
            } else {
                try await session.follow(request, after: after, count: count, printer)
            }
        }
    }
}

struct ListenAddress: Equatable {
    /// The URL of the request. Its scheme is always `http` or `https`, also for a WebSocket.
    let target: CallTarget
    let isWebSocket: Bool

    /// Parses a URL, whose scheme may be absent.
    ///
    /// - Throws: ``CommandFailure`` that names the problem.
    init(_ text: String) throws(CommandFailure) {
        let scheme = text.prefix { $0 != ":" }.lowercased()
        isWebSocket = text.beginsWithScheme && (scheme == "ws" || scheme == "wss")
        target = try CallTarget(
            shorthand: isWebSocket ? (scheme == "ws" ? "http" : "https") + text.dropFirst(scheme.count) : text)
    }
}
