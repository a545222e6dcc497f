import ArgumentParser
import Foundation
import Runway
import RunwayDemo

/// `runway serve`: the demo's backend alone.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve property listings on this machine, for calls to try.",
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

            EXAMPLES
              runway serve
              runway serve --port 8443 --seed 7 --ca ca.pem
              runway serve --plain --port 8080 --listings 20000

            EXIT CODES
              0    The server was stopped, by Ctrl-C or SIGTERM.
              2    The command line can't be used, or the port can't be had.
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

    func validate() throws {
        if let port, !(1...65535).contains(port) {
            throw ValidationError("--port needs a port from 1 to 65535, not \(port).")
        }
        if !(1...50_000).contains(listings) {
            throw ValidationError("--listings needs a number from 1 to 50000, not \(listings).")
        }
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
        let backend = try ListingsBackend(seed: seed, listingsPerKind: listings, security: plain ? .plain : .tls)
        let authorityFile = try backend.certificate.map { try write(authority: $0.authorityPEM) }
        do {
            try await backend.run(port: port ?? 0) { serving in
                // A reader that is gone, or a full disk, is no reason not to serve.
                try? Console.output.write(greeting(serving.baseURL, authorityFile: authorityFile))
            }
        } catch  where !Task.isCancelled {
            let reason = port.flatMap { SystemError(bindingTo: $0)?.description } ?? error.redactedDescription
            throw CommandFailure("The server can't listen on port \(port ?? 0) of 127.0.0.1: \(reason).")
        }
    }

    /// Writes the certificate authority to a file that only the user can read; returns its path.
    private func write(authority pem: String) throws(CommandFailure) -> String {
        let path = if let ca { ca } else { "\(try Self.makePrivateFolder())/ca.pem" }
        let file = try OutputFile(path: path, isPrivate: true)
        do throws(CommandFailure) {
            try file.write(Array(pem.utf8))
        } catch {
            file.discard()
            throw error
        }
        try file.commit()
        return file.path
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
    /// Why a port of the loopback can't be used, in the system's words; `nil` if it can.
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
