import ArgumentParser
import Runway
import RunwayTransport

/// `runway probe`: measures each address of a host.
struct ProbeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "probe", abstract: "Measure every address of a host at once: DNS, TCP, TLS.",
        usage: "runway probe <host> [<options>]",
        discussion: """
            Each address is connected to as a call would be, with the host's name in
            TLS and verified, and closed again. No request is sent.

            EXAMPLES
              runway probe api.github.com
              runway probe api.example.com --addresses 203.0.113.7 2001:db8::7
              runway probe localhost --port 8443 --cacert ca.pem --json

            EXIT CODES
              0    An address works.
              2    The command line, or a file that it names, can't be used.
              3    No address works.
              130  Ctrl-C. 143 is SIGTERM.
            """)

    /// The host. It is declared optional, so that the parser reports a mistake in the options first.
    @Argument(help: "The host: a name, or an address. Its port is an option.")
    var host: String?

    @Option(
        name: .long, parsing: .upToNextOption,
        help: ArgumentHelp("Addresses to measure in addition to those from DNS.", valueName: "address"))
    var addresses: [String] = []

    @Option(help: "The port.")
    var port: Int?

    @Flag(help: "Connect without TLS. The port is then 80, unless --port names another.")
    var plain = false

    @Option(help: ArgumentHelp("The longest that DNS, and after it an address, may take.", valueName: "seconds"))
    var timeout = 5.0

    @Option(
        help: ArgumentHelp("Trust the certificate authorities in FILE (PEM), and no others.", valueName: "file"),
        completion: .file())
    var cacert: String?

    @Flag(help: "Print one JSON object for programs. Times are in seconds.")
    var json = false

    func validate() throws {
        try TimeoutLimit.minute.check(timeout, of: "--timeout")
        guard (1...65535).contains(port ?? 443) else { throw ValidationError("--port needs a number from 1 to 65535.") }
        for address in addresses where IPAddress(address) == nil {
            throw ValidationError("--addresses needs IP addresses; \"\(address)\" is not one.")
        }
        // The error does not show the value, which may contain control sequences for the terminal.
        if let host, !Self.isHost(host) {
            throw ValidationError(
                "The host has to be a name or an address, without scheme, user and path; --port sets the port.")
        }
        if plain, cacert != nil { throw ValidationError("--plain uses no certificates; --cacert does not go with it.") }
    }

    func run() async throws {
        guard let host else { throw ValidationError("Missing expected argument '<host>'") }
        let report = try await Interruption.cancelling { try await probe(host) }
        let table = ProbeTable(report: report)
        if json {
            var text = JSONText(for: .output)
            try text.write(try table.json[...])
        } else {
            try Console.output.write(table.text(for: .output))
        }
        if !report.entries.contains(where: { $0.failure == nil }) { throw ExitCode(ExitStatus.noResponse) }
    }

    private static func isHost(_ text: String) -> Bool {
        let isBracketed = text.hasPrefix("[") && text.hasSuffix("]")
        if IPAddress(isBracketed ? String(text.dropFirst().dropLast()) : text) != nil { return true }
        let isName = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        return isName && !text.isEmpty
    }

    private func probe(_ host: String) async throws -> HostProbeReport {
        let trust = try TransportConfiguration.Trust(cacert: cacert)
        do throws(NetworkError) {
            let probe = try HostProbe(
                configuration: TransportConfiguration(trust: trust),
                timeout: .milliseconds(Int64(max(timeout * 1000, 1))))
            return try await probe.run(
                host, port: port ?? (plain ? 80 : 443), addresses: addresses.compactMap { IPAddress($0) },
                isSecure: !plain)
        } catch {
            // If a signal ended the run, the signal is reported instead.
            throw CommandFailure(error.description)
        }
    }
}
