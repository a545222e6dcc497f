import ArgumentParser
import Foundation
import HTTPTypes
import RunwaySignatures

/// A request read from a file, from standard input, or from a curl command line.
struct RequestInput: Sendable {
    var head: HTTPRequest
    var body: [UInt8]
    /// A sentence about the parts of the request that were left out; `nil` if none were.
    var remark: String?

    init(head: HTTPRequest, body: [UInt8]) { (self.head, self.body) = (head, body) }

    /// Parses an HTTP/1.1 message, or a curl command line, which begins with `curl`.
    ///
    /// - Parameter scheme: The scheme of the request, which an HTTP/1.1 message does not contain.
    /// - Throws: ``CommandFailure`` if the bytes are not a request.
    init(_ bytes: [UInt8], scheme: String) throws(CommandFailure) {
        guard !bytes.isEmpty else { throw CommandFailure("The input is empty; it must be an HTTP request.") }
        if let text = String(validating: bytes, as: UTF8.self), case let words = text.drop(while: \.isWhitespace),
            words.hasPrefix("curl"), words.dropFirst(4).first?.isWhitespace == true
        {
            self = try CurlLine(Array(try ShellWords.split(String(words)).dropFirst())).request
            return
        }
        let message: MessageText
        do throws(SignatureError) {
            message = try MessageText(bytes)
        } catch {
            throw CommandFailure("The input is not an HTTP request: \(error).")
        }
        guard let head = message.request(scheme: scheme) else {
            throw CommandFailure("The input is a response; it must be an HTTP request.")
        }
        guard message.headerFields.count(where: { $0.name.canonicalName == "host" }) < 2 else {
            throw CommandFailure("The request has several fields Host.")
        }
        (self.head, body) = (head, message.body)
        try cutBody()
    }

    /// Truncates the body to `Content-Length`, since editors and tools append a line feed.
    private mutating func cutBody() throws(CommandFailure) {
        guard head.headerFields[.transferEncoding] == nil else {
            throw CommandFailure("The request has a transfer coding; undo it, and remove the field Transfer-Encoding.")
        }
        guard let length = head.headerFields[.contentLength] else { return }
        guard let count = Int(length), count >= 0 else {
            throw CommandFailure("The request has a Content-Length that is no number.")
        }
        guard body.count >= count else {
            throw CommandFailure("The body has \(ByteCount(body.count)), and Content-Length says \(ByteCount(count)).")
        }
        if body.count > count, body[count...] != [0x0A], body[count...] != [0x0D, 0x0A] {
            remark = "\(ByteCount(body.count - count)) after the body are left out, as Content-Length says."
        }
        body.removeSubrange(count...)
    }

    /// Reads a file, or standard input if the path is `-`.
    static func read(_ path: String) async throws -> [UInt8] {
        path == "-" ? try await BodyFile.readStandardInput() : try WholeFile.bytes(path)
    }
}

extension CallAuthorization {
    /// Returns the `Authorization` value. Throws an error if there is no password.
    func fieldValueWithPassword() throws(CommandFailure) -> String {
        guard let password else { throw CommandFailure("The option --user of the curl command has no password.") }
        return "Basic " + Data("\(name):\(password)".utf8).base64EncodedString()
    }
}

/// The options that name the source of a request.
struct RequestSource: ParsableArguments {
    @Argument(
        help: "A file with the request, or with a curl command. Without it, or for \"-\", standard input.",
        completion: .file())
    var file: String?

    @Argument(parsing: .postTerminator, help: ArgumentHelp("After \"--\": a curl command.", valueName: "curl"))
    var command: [String] = []

    @Option(help: ArgumentHelp("The scheme of a request in a file: https (default) or http.", valueName: "scheme"))
    var scheme = "https"

    func validate() throws {
        guard ["https", "http"].contains(scheme) else { throw ValidationError("--scheme needs https or http.") }
        if let first = command.first, first != "curl" {
            throw ValidationError(
                "After \"--\" there is a curl command, which begins with curl, and not with \"\(first)\".")
        }
        if !command.isEmpty, file != nil {
            throw ValidationError("A file and a curl command exclude one another.")
        }
    }

    func request() async throws -> RequestInput {
        if !command.isEmpty { return try CurlLine(Array(command.dropFirst())).request }
        let input = try RequestInput(try await RequestInput.read(file ?? "-"), scheme: scheme)
        if let remark = input.remark { Console.error.remark(remark) }
        return input
    }
}
