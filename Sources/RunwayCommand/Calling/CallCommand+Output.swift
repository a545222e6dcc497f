import Foundation
import HTTPTypes
import Runway

extension CallCommand {
    func show(_ head: HTTPResponse) throws {
        let console = Console.output
        var text = ConsoleText("\(head.status.code) \(head.status.reasonPhrase)", .bold, for: console)
        text.append("\n")
        text.append(head.headerFields)
        text.append("\n")
        try console.write(text)
    }

    /// Writes the request that a call would send. Returns the exit code.
    func show(_ call: CallRequest, in session: CallSession) async throws -> Int32 {
        let progress = CallProgress(host: "")
        guard let result = await session.send(call.request, progress: progress, to: { _, _ in .dropped }),
            let attempt = result.record.attempts.first
        else { throw CommandFailure("The call left no record.", status: ExitStatus.noResponse) }
        if let error = result.error as? NetworkError { throw CommandFailure(error.detail, status: error.exitStatus) }
        if curl {
            let options = CurlOptions(
                connection: connecting, certificateFile: cert, keyFile: key, body: call.body,
                decodes: call.acceptsDefaultCodings, redaction: redaction)
            try Console.output.write(options.command(for: attempt) + "\n")
        } else if json {
            let report = CallReport(request: CallReport.RequestReport(attempt), response: nil, flight: nil, error: nil)
            try Console.output.write(report.jsonText())
        } else {
            try Console.output.write(WireText(attempt: attempt).requestLines.joined(separator: "\n") + "\n\n")
            if let body = attempt.requestBody { try show(body) }
            if let remark = call.body.remark { Console.error.remark(remark) }
        }
        return ExitStatus.fine
    }

    private func show(_ body: [UInt8]) throws {
        guard let text = String(validating: body, as: UTF8.self) else {
            return Console.error.remark("The body has \(ByteCount(body.count)), which are not text.")
        }
        try Console.output.write(text + "\n")
    }

    /// Writes the remarks that follow the response. Returns the exit code.
    func report(_ result: CallSession.Result) throws -> Int32 {
        if verbose {
            for attempt in result.record.attempts { Console.error.remark(WireText(attempt: attempt).exchange) }
            Console.error.remark(result.record.description)
        }
        if continues, let output { try remark(on: result, output) }
        if Task.isCancelled { throw CancellationError() }
        if result.error is BrokenPipe { throw BrokenPipe() }
        if json { try Console.output.write(CallReport(result).jsonText()) }
        guard let error = result.error else { return ExitStatus.fine }
        guard let error = error as? NetworkError else { throw error }
        // The error names the request only if redirects led to further requests.
        Console.error.report(result.record.attempts.count > 1 ? "\(error)" : error.detail)
        return error.exitStatus
    }

    /// Prints a remark about a download that can be continued later.
    private func remark(on result: CallSession.Result, _ output: String) throws {
        if result.wasComplete {
            return Console.error.remark(
                "\"\(output)\" has as many bytes as the server's file: nothing was downloaded. Without --continue it is replaced."
            )
        }
        if result.resumedByteCount > 0 {
            Console.error.remark("Continued after \(ByteCount(result.resumedByteCount)).")
        }
        var status = stat()
        guard !result.isSaved, stat(output + ".part", &status) == 0 else { return }
        if status.st_size > 0 {
            Console.error.remark("\"\(output).part\" holds what was received; the same command continues it.")
        } else if (result.error as? NetworkError)?.kind != .storage {
            // Removes an empty partial file. After a storage error the file stays, since it may belong to another
            // download.
            unlink(output + ".part")
        }
    }
}

extension CallSession.Result {
    var isSaved: Bool { if case .saved = shown { true } else { false } }
}

extension CallReport {
    fileprivate init(_ result: CallSession.Result) {
        request = result.record.attempts.first.map(RequestReport.init)
        response = result.head.map { ResponseReport($0, result.shown, result.record) }
        flight = result.record
        error = result.error as? NetworkError
    }
}

extension NetworkError {
    fileprivate var exitStatus: Int32 {
        switch outlook.obstacle {
        case .app, .device: ExitStatus.unusable
        // A call that may use only the cache ends with status 504, which no server sent.
        case .ended: ExitStatus.noResponse
        default: status == nil ? ExitStatus.noResponse : ExitStatus.refused
        }
    }
}
