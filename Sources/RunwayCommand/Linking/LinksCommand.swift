import ArgumentParser
import Runway

/// `runway links`: checks which addresses of a web site open the app.
struct LinksCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "links", abstract: "Check which addresses of a web site open the app.",
        usage: "runway links <host> [<options>]",
        discussion: """
            Apple's devices open an address of a web site in an app if the site's
            document /.well-known/apple-app-site-association has a pattern that
            fits the address. This command fetches the document as Apple's servers
            do: over TLS, without redirects, with the type application/json and at
            most 131,072 bytes. It prints the patterns of the document. With
            --addresses it prints, for each address, the pattern that fits it.

            A file of addresses has one address on each line. Lines that begin with
            # are comments, and addresses that do not begin with https:// are
            skipped. An app with RunwayMediator makes the document by
            siteAssociation(of:), and tests the same addresses by differences(from:).

            EXAMPLES
              runway links m.example.com
              runway links m.example.com --addresses published.txt
              runway links m.example.com --document association.json \\
                --addresses published.txt --app ABCDE12345.com.example.shop

            EXIT CODES
              0    The document is valid, and every address opens the app.
              1    The server or the document is refused, or an address does not
                   open the app.
              2    The command line, or a file that it names, can't be used.
              3    No response: no network, no trust (TLS), or a timeout.
              130  Ctrl-C. 143 is SIGTERM.
            """)

    /// The host. It is declared optional, so that the parser reports a mistake in the options first.
    @Argument(help: "The host of the web site, without scheme, port and path.")
    var host: String?

    @Option(help: ArgumentHelp("A file with the addresses to check.", valueName: "file"), completion: .file())
    var addresses: String?

    @Option(
        help: ArgumentHelp("Read the document from this file instead of the host.", valueName: "file"),
        completion: .file())
    var document: String?

    @Option(
        help: ArgumentHelp(
            "The app that has to open the addresses. The default is any app.", valueName: "id"))
    var app: String?

    @Option(help: "The port of the host. Apple's devices use 443.")
    var port = 443

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var colour: ColourOption

    func validate() throws {
        guard (1...65535).contains(port) else { throw ValidationError("--port needs a number from 1 to 65535.") }
        // The error does not show the value, which may contain control sequences for the terminal.
        if let host, !Self.isHost(host) {
            throw ValidationError("The host has to be a name, without scheme, port and path; --port sets the port.")
        }
    }

    func run() async throws {
        guard let host = host?.lowercased() else { throw ValidationError("Missing expected argument '<host>'") }
        if document == nil { connection.warnIfInsecure(try CallTarget("https://\(host)")) }
        let lines = try addresses.map { try WholeFile.text($0, of: "--addresses") }
        let bytes =
            if let document {
                try WholeFile.bytes(document, of: "--document")
            } else {
                try await Interruption.cancelling {
                    try await AssociationFetch(host: host, port: port, connection: connection).bytes()
                }
            }
        let association = try AssociationDocument(bytes)
        if let app, !association.groups.contains(where: { $0.apps.contains(app) }) {
            throw CommandFailure("The document does not name the app \(app).", status: ExitStatus.refused)
        }
        guard let lines else { return try Console.output.write(patterns(of: association)) }
        try check(lines.split(whereSeparator: \.isNewline), at: host, association)
    }

    private static func isHost(_ text: String) -> Bool {
        !text.isEmpty && text.count <= 253
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    private func patterns(of association: AssociationDocument) -> ConsoleText {
        var text = ConsoleText(for: .output)
        for group in association.groups {
            if let app, !group.apps.contains(app) { continue }
            text.append(group.apps.joined(separator: " ") + "\n", .bold)
            for pattern in group.patterns { text.append("  \(pattern.excludes ? "not " : "")\(pattern.text)\n") }
        }
        return text
    }

    private func check(_ lines: [Substring], at host: String, _ association: AssociationDocument) throws {
        var (openCount, missedCount) = (0, 0)
        for line in lines {
            let address = line.trimmingPrefix { $0 == " " }
            guard !address.isEmpty, !address.hasPrefix("#"), address.lowercased().hasPrefix("https://") else {
                continue
            }
            let rest = address.dropFirst("https://".count)
            let isOfHost = rest.prefix { !"/?#".contains($0) }.lowercased() == host
            let pattern = isOfHost ? association.pattern(of: String(address), in: app) : nil
            var text = ConsoleText(pattern == nil ? "missed" : "opens ", pattern == nil ? .red : .green, for: .output)
            text.append("  \(address)  \(pattern?.text ?? (isOfHost ? "no pattern fits" : "another host"))\n")
            try Console.output.write(text)
            if pattern == nil { missedCount += 1 } else { openCount += 1 }
        }
        guard openCount + missedCount > 0 else {
            throw CommandFailure("The file of --addresses has no address that begins with https://.")
        }
        if missedCount > 0 {
            let all = openCount + missedCount
            throw CommandFailure("\(missedCount) of \(all) addresses do not open the app.", status: ExitStatus.refused)
        }
    }
}
