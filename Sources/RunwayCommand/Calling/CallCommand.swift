import ArgumentParser
import Foundation
import HTTPTypes
import Runway

/// `runway call`: one call against any server.
struct CallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "call", abstract: "Make one call to any server, and print the response.",
        discussion: CallHelp.discussion)

    @Argument(help: "The method: GET, POST, … in any case.")
    var method: String

    @Argument(help: "The URL, with http:// or https://. Path and query are sent as they are written.")
    var url: String

    @Argument(help: "Parts of the request: name==value, name=value, name:=json, name:value. See above.")
    var items: [String] = []

    @Option(
        help: ArgumentHelp("The body: what FILE holds, or standard input for \"-\".", valueName: "file"),
        completion: .file())
    var body: String?

    @Flag(help: "Send name=value items as a form instead of JSON.")
    var form = false

    @Option(help: ArgumentHelp("The longest wait, for the response and for each part of it.", valueName: "seconds"))
    var timeout = 60.0

    @Option(
        help: ArgumentHelp("Trust the certificate authorities in FILE (PEM), and no others.", valueName: "file"),
        completion: .file())
    var cacert: String?

    @Flag(help: "Offer HTTP/1.1 alone.")
    var http1 = false

    @Option(
        name: [.short, .long],
        help: ArgumentHelp("Write the body to FILE, as it comes; \"-\" is standard output.", valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(help: "Print the status and the header fields of the response before its body.")
    var headers = false

    @Flag(name: [.short, .long], help: "Show the flight record on standard error.")
    var verbose = false

    @Flag(help: "Print one JSON object for programs: request, response, flight, error.")
    var json = false

    @Flag(help: "Print the curl command of every request that was sent, instead of the response.")
    var curl = false

    @Flag(help: "Do not hide secrets in what --verbose, --json and --curl print.")
    var showSecrets = false

    func validate() throws {
        try TimeoutLimit.year.check(timeout, of: "--timeout")
        if body != nil, form { throw ValidationError("--body and --form exclude one another.") }
        if json, curl { throw ValidationError("--json and --curl exclude one another.") }
        if json, headers { throw ValidationError("--json has the header fields; --headers does not go with it.") }
        if curl, headers || output != nil {
            throw ValidationError("--curl prints no response. Omit --headers and --output.")
        }
        if json, output == "-" {
            throw ValidationError("--json prints the response itself. Omit --output -.")
        }
        if let output, output.isEmpty { throw ValidationError("--output needs the name of a file.") }
    }

    func run() async throws {
        let status = try await Interruption.cancelling { try await call() }
        if status != ExitStatus.fine { throw ExitCode(status) }
    }

    /// Makes the call; returns the exit code.
    private func call() async throws -> Int32 {
        let content: CallRequest.Content = body.map { .file($0) } ?? (form ? .form : .json)
        let call = try await CallRequest(method: method, url: url, items: items, content: content)
        // The record contains bodies, since the request is part of the output. Secrets in them are redacted.
        let redaction = showSecrets ? Redaction.none : Redaction(recordsBodies: true)
        let session = try CallSession(
            CallSession.Options(
                timeout: .milliseconds(Int64(max(timeout * 1000, 1))), certificateAuthorityFile: cacert,
                isHTTP1Only: http1, redaction: redaction))
        // Opened before anything is sent, so that nothing is requested that can't be saved.
        let file = try output.flatMap { $0 == "-" ? nil : $0 }.map { try OutputFile(path: $0) }
        let progress = CallProgress(host: call.request.head.authority ?? "the server")
        let result = await ProgressLine.during(progress.text) {
            await session.send(call.request, progress: progress) { head, isFine in
                if headers { try show(head) }
                return sink(for: file, isFine: isFine)
            }
        }
        // A file that was not committed is discarded. After a commit this does nothing.
        if result?.isSaved != true { file?.discard() }
        guard let result else { throw CommandFailure("The call left no record.", status: ExitStatus.noResponse) }
        return try report(result, of: call)
    }

    private func sink(for file: OutputFile?, isFine: Bool) -> ResponseSink {
        if curl { return .dropped }
        // A file is not replaced by the page with which a server refuses.
        if let file, isFine { return .file(file) }
        if json { return .collected }
        return output == "-" ? .verbatim : .shown
    }

    private func show(_ head: HTTPResponse) throws {
        let console = Console.output
        var text = ConsoleText("\(head.status.code) \(head.status.reasonPhrase)", .bold, for: console)
        text.append("\n")
        for field in head.headerFields {
            text.append(field.name.rawName, .cyan)
            text.append(": \(field.value)\n")
        }
        text.append("\n")
        try console.write(text)
    }

    /// Writes what follows the response; returns the exit code.
    private func report(_ result: CallSession.Result, of call: CallRequest) throws -> Int32 {
        if verbose { Console.error.remark(result.record.description) }
        if Task.isCancelled { throw CancellationError() }
        if result.error is BrokenPipe { throw BrokenPipe() }
        if json {
            try Console.output.write(CallReport(result).jsonText())
        } else if curl {
            let options = CurlOptions(certificateAuthorityFile: cacert, isHTTP1Only: http1, bodyFile: call.bodyFile)
            for attempt in result.record.attempts { try Console.output.write(options.command(for: attempt) + "\n") }
        }
        guard let error = result.error else { return ExitStatus.fine }
        guard let error = error as? NetworkError else { throw error }
        // Which request it was is clear, unless redirects made it another one.
        Console.error.report(result.record.attempts.count > 1 ? "\(error)" : error.detail)
        return error.exitStatus
    }
}

extension CallSession.Result {
    /// Whether the body was saved to a file.
    fileprivate var isSaved: Bool { if case .saved = shown { true } else { false } }
}

extension CallReport {
    /// The report of a call.
    fileprivate init(_ result: CallSession.Result) {
        request = result.record.attempts.first.map(RequestReport.init)
        response = result.head.map { ResponseReport($0, result.shown, result.record) }
        flight = result.record
        error = result.error as? NetworkError
    }
}

extension NetworkError {
    /// The code to exit with.
    fileprivate var exitStatus: Int32 {
        switch kind {
        case .invalidConfiguration, .invalidParameters: ExitStatus.unusable
        // Its status, 504, is no server's.
        case .notCached: ExitStatus.noResponse
        default: status == nil ? ExitStatus.noResponse : ExitStatus.refused
        }
    }
}
