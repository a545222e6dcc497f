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

            Requests and responses are passed unchanged: method, path and query, bodies
            in any content coding, repeated header fields separately and in order, Date
            and Age. Not passed are the hop-by-hop fields (RFC 9110 §7.6.1): Connection
            and the fields it names, Keep-Alive, Proxy-Connection, Proxy-Auth…, TE,
            Trailer, Transfer-Encoding and Upgrade. Host is replaced by the origin's.
            Trailers are dropped in both directions, and so are interim responses (1xx)
            of the origin. The proxy itself handles "Expect: 100-continue".
            Requests get a Via field (RFC 9110 §7.6.3), which makes some servers stop
            compressing. Responses get no Via, but a Date if they have none. Equal
            Content-Length values are passed as one, and none with status 204.
            Bytes in header values that are not UTF-8 are lost; over HTTP/2, Set-Cookie
            fields with such bytes are left out, and a redirect to such a Location
            becomes a 502.

            Clients speak HTTP/1.1, or HTTP/1.0 with one request per connection. A request
            to upgrade, to WebSocket or to HTTP/2, is passed without the upgrade. The proxy
            refuses CONNECT, "OPTIONS *", methods that its parser does not know and
            transfer codings other than chunked (501), more than 64 KiB of header fields or
            32 KiB in one field (431), and malformed HTTP (400).

            Response bodies are streamed. With --cache http (the default), responses of at
            most 16 MiB are stored as RFC 9111 allows a private cache, except those with
            Set-Cookie, and are returned only to requests with the same credentials,
            whichever fields these are in. With this cache, each response has a Cache-Status
            field (RFC 9211): "runway; hit" if it was in the cache, or else why the request
            was forwarded.
            Request bodies are streamed too, except those whose Content-Length is at most
            64 KiB: these are buffered, so that they can be sent again over another
            connection.

            If the origin does not respond, the proxy does, with a JSON body that names the
            error and a Proxy-Status field that begins with "runway" (RFC 9209): 504 after
            a timeout, 503 and Retry-After if the layer asks for fewer requests, and 502
            otherwise, for example if the origin switches protocols (101) unasked. A client
            that is silent for longer than --client-timeout, while it sends a body or should
            read a response, gets 408 or is disconnected. So is a connection without
            requests.

            Only this machine can reach the proxy, and only under a name of its own or
            the origin's: a request for any other host is refused with 421, so that no
            web page can use it under a name of its own. With --allow-remote it may
            listen on any address: whoever reaches it then can call the origin through
            it. Its own names are then the address in --listen and the one that the
            client connected to; --allow-host adds others, such as the name that other
            machines know this one by. A Host field that is malformed, or has a user
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
        help: ArgumentHelp("Also accept requests for this host, a name or an address. Repeatable.", valueName: "host"))
    var allowHost: [String] = []

    @Option(help: "What is cached: responses by the rules of RFC 9111, or nothing.")
    var cache = ProxyCache.http

    @Flag(help: "Apply the layer's retries, circuit breaker and flood guard.")
    var policies = false

    @Option(
        help: ArgumentHelp(
            "The longest wait for the head of a response, and for each part of its body.", valueName: "seconds"))
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
            throw ValidationError("--allow-host must be a name or an address without a port, and \"\(host)\" is not.")
        }
        if json, verbose { throw ValidationError("--json has the whole record; --verbose does not go with it.") }
    }

    func run() async throws {
        let target = try CallTarget(origin)
        guard target.path == "/" else {
            throw CommandFailure("--origin needs a server without a path; the requests have the paths.")
        }
        let address = try ListeningAddress(listen)
        guard address.isLoopback || allowRemote else {
            throw CommandFailure(
                "Other machines reach \(address.host); --allow-remote permits them to call the origin through this one."
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

/// The responses that the proxy caches.
enum ProxyCache: String, ExpressibleByArgument, CaseIterable, Sendable {
    case http
    case none
}
