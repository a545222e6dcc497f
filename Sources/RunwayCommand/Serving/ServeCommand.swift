import ArgumentParser
import Foundation
import Hummingbird
import NIOCore
import Runway
import RunwayDemo
import RunwayServer

/// `runway serve`: runs the demo's backend.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve listings, receive action logs, or synchronise devices, on this machine.",
        usage: "runway serve [<options>]",
        discussion: """
            Three APIs by three teams who name the same things differently serve
            listings that are made from a seed: /esf/list (second-hand homes),
            /zf/list (rentals), /xinfang/list (new homes), each with /…/detail/ID.
            /slow/list responds a second late; /failing/list, /failing/truncated and
            /failing/envelope fail on purpose. Lists take city, district, a page,
            and delay_ms. /member/login and /member/token give access tokens, which
            /member/favourites wants; /_batch takes several requests in one.

            The server is reached from this machine alone, at 127.0.0.1 and
            localhost, over HTTP/2 and HTTP/1.1 with TLS. Its certificate is made at
            the start. The authority that signed it is written to a file for clients
            to trust, which only you can read, in a temporary folder that is removed
            at the end. A file that you choose with --ca stays; it is useless when
            the server is gone.

            Ctrl-C and SIGTERM stop the server at once, whatever is under way.

            A web page that your browser shows can't use the server: a request with
            Origin gets 403, and so does one for another host than localhost and the
            addresses of the loopback. Content must be application/json, or gets 415.
            --allow-host and --allow-origin let more pass. At most 1000 connections are
            open; one without a request for a minute is closed, and one whose body
            stays silent for 20 seconds, or takes more than a minute.

            With --log it receives the batches of action logs at /log instead, and
            stores each record once, in a SQLite file or in PostgreSQL. A batch is
            acknowledged when it is durable. "runway log" counts what came. When a user
            opts out, the client asks at /log/erasure, and the server erases what that
            installation sent without an account. Records with an account stay, since
            the server can't verify who asks. Other machines reach it if --host names an
            address of this one, such as 0.0.0.0 for all. The certificate is for
            127.0.0.1 and localhost alone: use --plain, and a proxy with TLS before it.
            With such a --host, requests may name any IP address; name the host by which
            a proxy or a client reaches it with --allow-host.

            With --sync it serves spaces at /sync that devices synchronise, and stores
            them in a SQLite file or in PostgreSQL; a push is acknowledged when it is
            durable. Devices hear of changes at /events. Several servers may share a
            database of PostgreSQL. There are no accounts: the token of a request is the
            name of its account, and everyone may read and write every space. "runway
            sync" administers the spaces, and "runway sync-probe" is a device.

            EXAMPLES
              runway serve
              runway serve --port 8443 --seed 7 --ca ca.pem
              runway serve --plain --port 8080 --listings 20000
              runway serve --sync spaces.sqlite --plain --port 8080
              runway serve --log actions.sqlite --plain --port 8080
              runway serve --log actions.sqlite --plain --port 8080 --host 0.0.0.0
              runway serve --log a.sqlite --plain --host 0.0.0.0 --allow-host log.test
              runway serve --plain --port 8080 --allow-origin http://localhost:3000

            EXIT CODES
              0    The server was stopped, by Ctrl-C or SIGTERM.
              2    The command line can't be used, the port can't be bound, or the
                   log or the spaces can't be opened.
            """)

    @Option(help: ArgumentHelp("The port, from 1 to 65535. Without it, any that is free.", valueName: "port"))
    var port: Int?

    @Option(help: ArgumentHelp("Decides every listing.", valueName: "number"))
    var seed: UInt64 = 1

    @Flag(help: "Serve without TLS, over HTTP/1.1.")
    var plain = false

    @Option(help: ArgumentHelp("How many listings of each kind, from 1 to 50000.", valueName: "n"))
    var listings = 1200

    @Option(
        help: ArgumentHelp("Write the certificate authority to FILE (PEM) instead.", valueName: "file"),
        completion: .file())
    var ca: String?

    @Option(
        help: ArgumentHelp(
            "Receive action logs, and store them in a file, or in PostgreSQL by its URL.", valueName: "place"),
        completion: .file())
    var log: String?

    @Option(
        help: ArgumentHelp(
            "Synchronise devices, and store their spaces in a file, or in PostgreSQL by its URL.", valueName: "place"),
        completion: .file())
    var sync: String?

    @Option(
        help: ArgumentHelp(
            "The address of this machine at which --log receives. The default is 127.0.0.1: from this machine alone.",
            valueName: "address"))
    var host: String?

    @Option(
        help: ArgumentHelp(
            "Let requests pass that name this host, without a port. It can be repeated.", valueName: "name"))
    var allowHost: [String] = []

    @Option(
        help: ArgumentHelp(
            "Let web pages of this origin use the server. It can be repeated.", valueName: "origin"))
    var allowOrigin: [String] = []

    func validate() throws {
        if let port, !(1...65535).contains(port) {
            throw ValidationError("--port needs a port from 1 to 65535, not \(port).")
        }
        if !(1...50_000).contains(listings) {
            throw ValidationError("--listings needs a number from 1 to 50000, not \(listings).")
        }
        for name in allowHost
        where name.isEmpty || name.contains(where: { "/:@ ".contains($0) }) && !name.hasPrefix("[") {
            throw ValidationError("--allow-host needs the name of a host, without a port, not \(name).")
        }
        for origin in allowOrigin where origin.wholeMatch(of: /https?:\/\/[^\/@ ]+/) == nil {
            throw ValidationError(
                "--allow-origin needs a scheme and a host, such as http://localhost:3000, not \(origin).")
        }
        if log != nil, sync != nil { throw ValidationError("--sync does not go with --log.") }
        if host != nil, log == nil { throw ValidationError("--host goes with --log alone.") }
        if plain, ca != nil { throw ValidationError("--plain has no certificate; --ca does not go with it.") }
    }

    func run() async throws {
        defer { TemporaryFiles.removeAll() }
        do {
            try await Interruption.cancelling(forcedStatus: { _ in ExitStatus.fine }) { try await serve() }
        } catch is Interruption.Signalled {
            return
        }
    }

    private func serve() async throws {
        if let log { return try await receive(LogPlace(log)) }
        if let sync { return try await synchronise(at: SyncPlace(sync)) }
        let backend = try ListingsBackend(seed: seed, listingsPerKind: listings, usesTLS: !plain)
        let authorityFile = try backend.certificate.map { try write(authority: $0.authorityPEM) }
        do {
            try await backend.run(port: port ?? 0, rules: rules) { serving in
                // The server continues if standard output is closed or the disk is full.
                try? Console.output.write(greeting(serving.baseURL, authorityFile: authorityFile))
            }
        } catch  where !Task.isCancelled {
            throw failure(to: error)
        }
    }

    /// The hosts and origins whose requests are accepted. They may include the server's IP address, since no web page
    /// can use an address as its host name to reach the server.
    var rules: HostRules {
        var rules = HostRules.loopback
        rules.hosts = Set(allowHost)
        rules.origins = Set(allowOrigin)
        if let host {
            rules.acceptsAddresses = !host.hasPrefix("127.") && host != "::1" && host != "localhost"
            rules.hosts.insert(host.contains(":") ? "[\(host)]" : host)
        }
        return rules
    }

    /// Serves a route that receives action logs, and stores them at `place`.
    private func receive(_ place: LogPlace) async throws {
        // Limits the memory to 32 batches of the maximum size, so that a small machine suffices.
        BodyCollector.shared.maximumTotalByteCount = 32 << 20
        let (sink, close) = try await place.open()
        try await receive(in: sink, endingBy: close)
    }

    /// Serves the route with an open sink, and closes the sink at the end.
    private func receive(
        in sink: some ActionLogErasing, endingBy close: @escaping @Sendable () async throws -> Void
    ) async throws {
        let certificate = plain ? nil : try DemoCertificate()
        let authorityFile = try certificate.map { try write(authority: $0.authorityPEM) }
        // The request context contains the client's address, since each client's share of the log is limited. The
        // server can't verify accounts, so it has no route that erases an account's records.
        let router = Router(context: BasicSignedRequestContext.self)
        let route = ActionLogRoute(to: sink)
        route.add(to: router)
        route.addAnonymousErasure(to: router)
        let server = BoundedServer(
            GuardedRouter(router, rules), host: host ?? "127.0.0.1", port: port ?? 0, certificate: certificate)
        let result: Result<Void, any Error>
        do {
            result = .success(
                try await server.run { url, _ in
                    var text = ConsoleText("Action logs go to ", for: .output)
                    text.append("\(url)/log", .bold)
                    if let authorityFile { text.append("\nCertificate authority: \(authorityFile)") }
                    text.append("\nCtrl-C stops it.\n")
                    // The server continues if standard output is closed or the disk is full.
                    try? Console.output.write(text)
                })
        } catch {
            result = .failure(failure(to: error))
        }
        // `close` stores the waiting batches. It runs in another task, since this one may be cancelled.
        try? await Task { try await close() }.value
        try result.get()
    }

    func failure(to error: any Error) -> CommandFailure {
        let local = host == nil ? port.flatMap { SystemError(bindingTo: $0)?.description } : nil
        let ofSystem = (error as? IOError).map { String(cString: strerror($0.errnoCode)) }
        let reason = local ?? ofSystem ?? error.redactedDescription
        return CommandFailure("The server can't listen on port \(port ?? 0) of \(host ?? "127.0.0.1"): \(reason).")
    }

    /// Writes the certificate authority to a file that only the user can read. Returns the file's path.
    func write(authority pem: String) throws(CommandFailure) -> String {
        let path = if let ca { ca } else { "\(try Self.makePrivateFolder())/ca.pem" }
        return try OutputFile.replacePrivately(path, with: Array(pem.utf8))
    }

    private static func makePrivateFolder() throws(CommandFailure) -> String {
        var parent = FileManager.default.temporaryDirectory.path
        while parent.count > 1, parent.hasSuffix("/") { parent.removeLast() }
        var template = Array("\(parent)/runway-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw CommandFailure("No temporary folder can be made in \"\(parent)\": \(SystemError.current).")
        }
        let folder = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? parent }
        TemporaryFiles.insert(folder)
        return folder
    }

    private func greeting(_ baseURL: String, authorityFile: String?) -> ConsoleText {
        let trust = authorityFile.map { " --cacert \($0.shellWord)" } ?? ""
        var text = ConsoleText("Listings from seed \(seed) at ", for: .output)
        text.append(baseURL, .bold)
        var lines = [""]
        if let authorityFile { lines.append("Certificate authority: \(authorityFile)") }
        lines += [
            "", "Try:",
            "  runway call GET \(baseURL)/esf/list city==shanghai page_size==3\(trust)",
            "  runway call GET \(baseURL)/zf/list city==beijing rent_max==6000\(trust) --verbose",
            "  runway call GET \(baseURL)/failing/list status==503\(trust)",
        ]
        if authorityFile != nil { lines.append("  curl\(trust) '\(baseURL)/xinfang/list?limit=3'") }
        lines += ["", "Ctrl-C stops it.", ""]
        text.append(lines.joined(separator: "\n"))
        return text
    }
}

extension SystemError {
    /// Checks whether a loopback port can be bound. If it can't, creates an error with the system's message; otherwise
    /// returns `nil`.
    fileprivate init?(bindingTo port: Int) {
        #if canImport(Glibc)
            let kind = Int32(SOCK_STREAM.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        let descriptor = socket(AF_INET, kind, 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let result = withUnsafeBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) {
                bind(descriptor, $0.baseAddress, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result != 0 else { return nil }
        self = .current
    }
}
