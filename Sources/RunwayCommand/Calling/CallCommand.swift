import ArgumentParser
import Foundation
import HTTPTypes
import Runway
import RunwayTransport

/// `runway call`: makes one call to any server.
struct CallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "call", abstract: "Make one call to any server, and print the response.",
        usage: "runway call [<method>] <url> [<items> ...] [<options>]", discussion: CallHelp.discussion)

    // The method may be left out, so the words of the command line are interpreted only after all options are parsed.
    @Argument(
        help: "GET, POST, … in any case. Default: POST if there is a body, or GET.",
        completion: .list(CallLine.knownMethods.map(\.rawValue)))
    var method: String?

    @Argument(help: "The URL, or a part of it: host/path, :port/path. See above.")
    var url: String?

    @Argument(help: "Parts of the request: name=value, name:value, … See above.")
    var items: [String] = []

    @Option(
        help: ArgumentHelp("The body: the content of FILE, or standard input for \"-\".", valueName: "file"),
        completion: .file())
    var body: String?

    @Flag(name: [.short, .long], help: "Send name=value items as a form instead of JSON.")
    var form = false

    @Flag(name: [.customShort("I"), .long], help: "Do not read standard input.")
    var ignoreStdin = false

    @Option(
        name: [.short, .long],
        help: ArgumentHelp("Name and password (Basic). Without a password, ask for it.", valueName: "user:password"))
    var auth: String?

    @Option(
        help: ArgumentHelp("Send and store cookies and the token of the session NAME.", valueName: "name"))
    var session: String?

    @Flag(help: "Print redirects instead of following them.")
    var noFollow = false

    @OptionGroup var connecting: ConnectionOptions

    @Option(
        help: ArgumentHelp("Send the client certificate in FILE (PEM) to the URL's host.", valueName: "file"),
        completion: .file())
    var cert: String?

    @Option(
        help: ArgumentHelp("The private key of --cert (PEM), if it is in a file of its own.", valueName: "file"),
        completion: .file())
    var key: String?

    @Option(
        help: ArgumentHelp("Sign the requests to the URL's origin with a key in FILE. See above.", valueName: "file"),
        completion: .file())
    var sign: String?

    @OptionGroup var signing: SigningOptions

    @Option(
        name: [.short, .long],
        help: ArgumentHelp("Write the body to FILE, as it comes; \"-\" is standard output.", valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(name: [.customShort("c"), .customLong("continue")], help: "Let --output continue an interrupted download.")
    var continues = false

    @Flag(name: [.customShort("i"), .long], help: "Print the head of the response before its body.")
    var headers = false

    @Flag(name: [.short, .long], help: "Show both heads and the flight record on standard error.")
    var verbose = false

    @Flag(help: "Print one JSON object: request, response, flight, error.")
    var json = false

    @Flag(help: "Print the request, and send nothing.")
    var offline = false

    @Flag(help: "Print a curl command for the request, and send nothing.")
    var curl = false

    @Flag(help: "Do not hide secrets in what --verbose, --json, --offline and --curl print.")
    var showSecrets = false

    @OptionGroup var colour: ColourOption

    func validate() throws {
        if body != nil, form { throw ValidationError("--body and --form exclude one another.") }
        if key != nil, cert == nil { throw ValidationError("--key needs --cert.") }
        if sign == nil, signing.isUsed { throw ValidationError("The options of a signature need --sign FILE.") }
        try checkOutput()
    }

    private func checkOutput() throws {
        if json, curl { throw ValidationError("--json and --curl exclude one another.") }
        if json, headers { throw ValidationError("--json has the header fields; --headers does not go with it.") }
        if curl || offline, headers || output != nil {
            throw ValidationError("\(curl ? "--curl" : "--offline") prints no response. Omit --headers and --output.")
        }
        if json, output == "-" { throw ValidationError("--json prints the response itself. Omit --output -.") }
        if let output, output.isEmpty { throw ValidationError("--output needs the name of a file.") }
        if continues, output == nil || output == "-" { throw ValidationError("--continue needs --output FILE.") }
        if continues, noFollow || headers {
            throw ValidationError("--continue excludes --no-follow and --headers.")
        }
    }

    func run() async throws {
        let status = try await Interruption.cancelling { try await call() }
        if status != ExitStatus.fine { throw ExitCode(status) }
    }

    private func call() async throws -> Int32 {
        let line = try CallLine([method, url].compactMap(\.self) + items)
        let target = try CallTarget(shorthand: line.url)
        var stored = try session.map { name throws(CommandFailure) in try NamedSession(name, for: target) }
        var call = try await CallRequest(line, content: content)
        try await authorize(&call.request.head, from: stored, host: target.host)
        if continues, call.request.head.method != .get {
            throw CommandFailure("--continue is for GET: no other request can be continued.")
        }
        let configuration = try connecting.configuration(for: target.host, certificateFile: cert, keyFile: key)
        let session = CallSession(
            CallSession.Options(
                timeout: connecting.limit, redaction: redaction, followsRedirects: !noFollow,
                cookies: stored?.cookies ?? [],
                signing: try sign.map { file throws(CommandFailure) in
                    try CallSigning(keyFile: file, signing, for: target)
                }),
            over: offline || curl ? nil : try NIOTransport(configuration, cacert: connecting.cacert))
        if offline || curl { return try await show(call, in: session) }
        connecting.warnIfInsecure(target)
        var result = try await make(call, in: session)
        result.nameRefusedCredentials()
        try stored?.save(session.cookies, after: result, sent: call.request.head)
        return try report(result)
    }

    private var content: CallRequest.Content {
        if let body { return .file(body) }
        return form ? .form(readsStandardInput: !ignoreStdin) : .items(readsStandardInput: !ignoreStdin)
    }

    /// The redaction of the record. The record contains bodies, since the output shows the request.
    var redaction: Redaction { showSecrets ? .none : Redaction(recordsBodies: true) }

    /// Adds the `Authorization` field that `--auth` determines. Without `--auth`, adds the field that the session
    /// stores, if the request has no `Authorization` field.
    private func authorize(_ head: inout HTTPRequest, from stored: NamedSession?, host: String) async throws {
        guard let auth else {
            if head.headerFields[.authorization] == nil { head.headerFields[.authorization] = stored?.authorization }
            return
        }
        guard head.headerFields[.authorization] == nil else {
            throw CommandFailure("--auth and the item Authorization exclude one another.")
        }
        head.headerFields[.authorization] = try await CallAuthorization(auth).fieldValue(for: host)
    }

    private func make(_ call: CallRequest, in session: CallSession) async throws -> CallSession.Result {
        let request = call.request
        let progress = CallProgress(host: request.head.authority ?? "the server")
        let result: CallSession.Result?
        if continues, let output {
            result = await ProgressLine.during(progress.text) {
                await session.download(request, to: output, progress: progress)
            }
        } else {
            // The file is opened before the request is sent, so that the command fails early if the path can't be
            // written.
            let file = try output.flatMap { $0 == "-" ? nil : $0 }.map { try OutputFile(path: $0) }
            let showsHead = headers || request.head.method == .head && !json && output == nil
            result = await ProgressLine.during(progress.text) {
                await session.send(request, progress: progress) { head, isFine in
                    if showsHead { try show(head) }
                    return sink(for: file, isFine: isFine)
                }
            }
            // Discards a file that was not committed. This does nothing after a commit.
            if result?.isSaved != true { file?.discard() }
        }
        guard let result else { throw CommandFailure("The call left no record.", status: ExitStatus.noResponse) }
        return result
    }

    private func sink(for file: OutputFile?, isFine: Bool) -> ResponseSink {
        // The body of an error response does not replace the file.
        if let file, isFine { return .file(file) }
        if json { return .collected }
        return output == "-" ? .verbatim : .shown
    }
}
