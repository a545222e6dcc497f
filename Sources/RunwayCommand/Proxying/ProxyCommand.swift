import ArgumentParser
import Foundation
import NIOCore
import Runway
import RunwayJSON
import RunwayTransport

/// `runway proxy`: any HTTP client's calls, through the layer.
struct ProxyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "proxy", abstract: "Send any HTTP client's calls to one server through the layer, and show each.",
        discussion: """
            Listens on this machine, and sends every request to the origin through all
            stages of the layer but one: redirects are passed on, since the client
            follows them itself. A line on standard output says of every call what
            became of it and what the layer decided.

            Clients see every response of the origin, whatever its status. With
            --policies the layer acts as in an app: it retries what may be retried,
            sends nothing for a while to an origin that keeps failing, and refuses a
            request that is made too often.

            Requests and answers are passed as they are: method, path and query, bodies
            in whatever content coding, repeated header fields apart and in order, Date
            and Age. Not passed are the fields of one hop (RFC 9110 §7.6.1): Connection
            and what it names, Keep-Alive, Proxy-Connection and Proxy-Auth…, TE,
            Trailer, Transfer-Encoding, Upgrade; Host, which is the origin's. Nor are
            trailers, either way, which are read and dropped, and interim answers (1xx)
            of the origin, which are waited out. "Expect: 100-continue" is met here.
            Requests get a Via (RFC 9110 §7.6.3), at which some servers stop
            compressing; answers get none, but a Date where they have none. A
            Content-Length goes on once, as it was understood, and not with status 204.
            Bytes in header values that are not UTF-8 are lost.

            Clients speak HTTP/1.1, or HTTP/1.0 with one request a connection. A request
            that asks to upgrade, to WebSocket or to HTTP/2, passes as a plain one.
            Refused are CONNECT, "OPTIONS *", methods that the parser of this proxy does
            not know and transfer codings other than chunked (501), more than 64 KiB of
            header or 32 KiB in one field (431), and what is no HTTP (400).

            Answers are passed as they come. With --cache http (the default) those of at
            most 16 MiB are kept while they pass, as RFC 9111 allows a private cache,
            but none with Set-Cookie, and given only to requests with the same
            credentials, whichever fields these are in. Bodies of requests are passed as
            they come, too, but for those that say that they have at most 64 KiB, which
            are gathered, so that they can be sent again over another connection.

            A request without an answer gets one from here, with a JSON body that names
            the error, and with a Proxy-Status that begins with "runway" (RFC 9209): 504
            where time ran out, 503 and Retry-After where the layer asks for fewer
            requests, 502 for the rest, as where the origin switches protocols (101)
            unasked. A client that is silent for longer than --client-timeout, in the
            body of a request or instead of taking its answer, is told 408 or cut off,
            and so is a connection without requests.

            Only this machine can reach the proxy, and only under a name of its own or
            the origin's: a request for any other host is refused with 421, so that no
            web page can use it under a name of its own. With --allow-remote it may
            listen on any address: whoever reaches it then can call the origin through
            it. Its own names are then the address in --listen and the one that the
            client connected to; --allow-host adds others, such as the name that other
            machines know this one by. A Host that is no host and port, or has a user's
            name in it, is refused with 400.

            Ctrl-C and SIGTERM stop it at once, whatever is under way.

            EXAMPLES
              runway proxy --origin https://api.github.com
              runway proxy --origin http://127.0.0.1:3000 --listen 127.0.0.1:8080
              runway proxy --origin https://example.com --cache none --json | jq .outcome

            EXIT CODES
              0    The proxy was stopped, by Ctrl-C or SIGTERM.
              2    The command line can't be used, or the port can't be had.
            """)

    @Option(help: ArgumentHelp("The server: http:// or https://, host and port. No path.", valueName: "url"))
    var origin: String

    @Option(help: ArgumentHelp("Where to listen; port 0 is any that is free.", valueName: "address:port"))
    var listen = "127.0.0.1:0"

    @Flag(help: "Let --listen name an address that other machines reach.")
    var allowRemote = false

    @Option(
        help: ArgumentHelp("Answer requests for this host, too: a name, or an address. Repeatable.", valueName: "host"))
    var allowHost: [String] = []

    @Option(help: "What is kept: as RFC 9111 says, or nothing.")
    var cache = ProxyCache.http

    @Flag(help: "Apply retries, circuit breaker and flood guard, as an app's calls have them.")
    var policies = false

    @Option(help: ArgumentHelp("The longest wait for the head of an answer, and for each part.", valueName: "seconds"))
    var timeout = 60.0

    @Option(help: ArgumentHelp("The longest silence of a client, between its requests too.", valueName: "seconds"))
    var clientTimeout = 60.0

    @Option(
        help: ArgumentHelp("Trust the certificate authorities in FILE (PEM), and no others.", valueName: "file"),
        completion: .file())
    var cacert: String?

    @Flag(help: "Offer HTTP/1.1 alone to the origin.")
    var http1 = false

    @Flag(name: [.short, .long], help: "Show the whole flight record of every call.")
    var verbose = false

    @Flag(help: "Print every flight record as one line of JSON.")
    var json = false

    @Flag(help: "Do not hide secrets in what is printed.")
    var showSecrets = false

    func validate() throws {
        try TimeoutLimit.year.check(timeout, of: "--timeout")
        try TimeoutLimit.year.check(clientTimeout, of: "--client-timeout")
        for host in allowHost where !Self.isHost(host) {
            throw ValidationError("--allow-host wants a name or an address, without a port; \"\(host)\" is none.")
        }
        if json, verbose { throw ValidationError("--json has the whole record; --verbose does not go with it.") }
    }

    func run() async throws {
        let target = try CallTarget(origin)
        guard target.path == "/" else {
            throw CommandFailure("--origin wants a server alone; paths come with the requests.")
        }
        let address = try ListeningAddress(listen)
        guard address.isLoopback || allowRemote else {
            throw CommandFailure(
                "Other machines reach \(address.host); --allow-remote says that they may call the origin through this one."
            )
        }
        let session = try ProxySession(
            to: target, cache: cache, appliesPolicies: policies, timeout: .seconds(timeout), isHTTP1Only: http1,
            certificateAuthorityFile: cacert,
            printer: RecordPrinter(style: json ? .json : verbose ? .full : .line),
            redaction: showSecrets ? Redaction(headerFields: [], names: .none) : .default)
        let greetsPrograms = json
        do {
            try await Interruption.cancelling(forcedStatus: { _ in ExitStatus.fine }) {
                let server = ProxyServer(
                    session: session, address: address, allowedHosts: allowHost,
                    clientTimeout: .nanoseconds(Int64(clientTimeout * 1_000_000_000)))
                try await server.run { port in
                    // Programs read records alone on standard output.
                    let text =
                        "Listening at http://\(address.authority(port: port)) for \(target.scheme)://\(target.authority)\n"
                    try? (greetsPrograms ? Console.error : Console.output).write(text)
                }
            }
        } catch is Interruption.Signalled {
            return
        }
    }
}

extension ProxyCommand {
    fileprivate static func isHost(_ text: String) -> Bool {
        IPAddress(text) != nil || !text.contains(":") && (try? RequestAuthority(text)) != nil
    }
}

/// What the proxy keeps.
enum ProxyCache: String, ExpressibleByArgument, CaseIterable, Sendable {
    case http
    case none
}
