import ArgumentParser
import Foundation
import HTTPTypes
import NIOCore
import Runway
import RunwayJSON
import RunwayTransport

/// `runway proxy`: forwards the calls of any HTTP client through a network layer, to one server or as a forward proxy.
struct ProxyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "proxy", abstract: "Send any HTTP client's calls through the layer, and show each.",
        usage: "runway proxy [--origin <url>] [<options>]", discussion: ProxyHelp.discussion)

    @Option(
        help: ArgumentHelp(
            "The one server: http:// or https://, host and port. No path. Without it, a forward proxy.",
            valueName: "url"))
    var origin: String?

    @Option(
        help: ArgumentHelp("Also allow tunnels to this port, besides 443. Repeatable.", valueName: "port"))
    var connectPort: [Int] = []

    @Flag(help: "Let a forward proxy connect to this machine and private networks.")
    var allowLocal = false

    @Option(help: ArgumentHelp("Where to listen; port 0 is any that is free.", valueName: "address:port"))
    var listen = "127.0.0.1:0"

    @Flag(help: "Let --listen name an address that other machines reach.")
    var allowRemote = false

    @Option(
        help: ArgumentHelp("Also accept requests for this host, a name or an address. Repeatable.", valueName: "host"))
    var allowHost: [String] = []

    @Option(help: "What is cached: responses by the rules of RFC 9111, or nothing.")
    var cache = ProxyCache.http

    @Option(
        help: ArgumentHelp(
            "Also keep cached responses apart by this header field of requests. Repeatable.", valueName: "name"))
    var authField: [String] = []

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

    @Flag(help: "Show heads, and the first 4 KiB of bodies that are text.")
    var showBodies = false

    @Flag(help: "Print every flight record as one line of JSON.")
    var json = false

    @Flag(help: "Do not hide secrets in what is printed.")
    var showSecrets = false

    @OptionGroup var colour: ColourOption

    func validate() throws {
        try TimeoutLimit.year.check(timeout, of: "--timeout")
        try TimeoutLimit.year.check(clientTimeout, of: "--client-timeout")
        for host in allowHost where !Self.isHost(host) {
            throw ValidationError("--allow-host must be a name or an address without a port, and \"\(host)\" is not.")
        }
        for port in connectPort where !(1...65535).contains(port) {
            throw ValidationError("--connect-port needs a port from 1 to 65535, not \(port).")
        }
        for name in authField where HTTPField.Name(name) == nil {
            throw ValidationError("--auth-field needs the name of a header field, not \"\(name)\".")
        }
        if origin != nil, allowLocal || !connectPort.isEmpty {
            throw ValidationError("--connect-port and --allow-local are for a proxy without --origin.")
        }
        if origin == nil, !allowHost.isEmpty { throw ValidationError("--allow-host needs --origin.") }
        if json, verbose { throw ValidationError("--json has the whole record; --verbose does not go with it.") }
        if json, showBodies { throw ValidationError("--json prints no bodies; --show-bodies does not go with it.") }
    }

    func run() async throws {
        let target = try origin.map { text throws(CommandFailure) in try CallTarget(text) }
        guard (target?.path ?? "/") == "/" else {
            throw CommandFailure("--origin needs a server without a path; the requests have the paths.")
        }
        let address = try ListeningAddress(listen)
        guard address.isLoopback || allowRemote else {
            throw CommandFailure(
                "Other machines reach \(address.host); --allow-remote permits them to call servers through this one.")
        }
        let redaction = showSecrets ? Redaction(headerFields: [], names: .none) : .default
        let printer = RecordPrinter(
            style: json ? .json : verbose ? .full : .line, captures: showBodies ? BodyCaptures() : nil,
            names: redaction.names)
        let targets = target == nil ? ForwardTargets(tunnelPorts: connectPort, allowsLocal: allowLocal) : nil
        let silence = TimeAmount.nanoseconds(Int64(clientTimeout * 1_000_000_000))
        let server = ProxyServer(
            session: try ProxySession(
                to: target, among: targets,
                ProxySession.Options(
                    cache: cache, authenticatingFields: Set(authField), appliesPolicies: policies,
                    timeout: .seconds(timeout), isHTTP1Only: http1,
                    certificateAuthorityFile: cacert, redaction: redaction), printer: printer),
            address: address, allowedHosts: allowHost,
            tunnels: targets.map { Tunnels(targets: $0, silence: silence, printer: printer) }, clientTimeout: silence)
        try await serve(server, for: target.map { "\($0.scheme)://\($0.authority)" } ?? "any server")
    }

    /// Serves until a signal ends the process.
    private func serve(_ server: ProxyServer, for servers: String) async throws {
        let greetsPrograms = json
        do {
            try await Interruption.cancelling(forcedStatus: { _ in ExitStatus.fine }) {
                try await server.run { port in
                    // With `--json`, standard output carries only records, since a program reads it.
                    let text =
                        "Listening at http://\(server.address.authority(port: port)) for \(servers)\n"
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

/// The kinds of responses that the proxy caches.
enum ProxyCache: String, ExpressibleByArgument, CaseIterable, Sendable {
    case http
    case none
}
