import Foundation
import HTTPTypes
import Runway
import RunwayJSON
import RunwayTransport

/// The request that a command line describes.
struct CallRequest {
    /// The request that is sent.
    var request: Request
    /// The content of the body, for a curl command.
    let body: Body
    /// Whether the call itself adds the field `Accept-Encoding`: a curl command then has to decode the codings in it.
    let acceptsDefaultCodings: Bool

    /// The content of a body.
    enum Body {
        case none
        /// Bytes in memory, which records can show.
        case bytes
        /// A file that is read while it is sent.
        case file(BodyFile)
        /// A form with files.
        case form([(name: String, value: RequestItem)])

        /// Describes a body that is not in memory; `nil` for other bodies.
        var remark: String? {
            switch self {
            case .none, .bytes: nil
            case .file(let file): "The body is the content of \"\(file.path)\"."
            case .form(let members): "The body is a form with the parts \(members.map(\.name).joined(separator: ", "))."
            }
        }
    }

    /// The source of a request's body, besides the items of the command line.
    enum Content {
        /// The items, as JSON unless there is a file among them. Without items that make a body, the bytes that are
        /// redirected to standard input.
        case items(readsStandardInput: Bool)
        /// The items, as a form. Without items that make a body, the bytes that are redirected to standard input, which
        /// are a form already.
        case form(readsStandardInput: Bool)
        /// The content of a file; `-` is standard input.
        case file(String)
    }

    /// Creates the request.
    ///
    /// - Throws: ``CommandFailure`` if the request can't be sent.
    init(_ line: CallLine, content: Content) async throws {
        var target = try CallTarget(shorthand: line.url)
        var parts = RequestParts()
        for item in line.items { try parts.add(RequestItem(item)) }
        target.appendQuery(try parts.query())
        let made = try await Self.body(of: parts, content, for: line.method)
        let method = line.method ?? (made == nil ? .get : .post)
        if method == .head, made != nil { throw CommandFailure("A HEAD request has no body (RFC 9110 §9.3.2).") }
        if let made, parts.headers[.contentType] == nil { parts.headers[.contentType] = made.contentType }
        acceptsDefaultCodings = Self.addDefaults(to: &parts.headers, for: method)
        let head = HTTPRequest(
            method: method, scheme: target.scheme, authority: target.authority, path: target.path,
            headerFields: parts.headers)
        request = Request(head: head, body: made?.sent ?? .none, delivery: .streamed)
        body = made?.body ?? .none
    }

    private typealias MadeBody = (sent: RequestBody, body: Body, contentType: String)

    /// Returns the body and its media type; `nil` for a request without a body.
    private static func body(
        of parts: RequestParts, _ content: Content, for method: HTTPRequest.Method?
    ) async throws -> MadeBody? {
        switch content {
        case _ where parts.hasFiles:
            if case .file = content { throw twoBodies }
            let form = try parts.multipartForm()
            return (form.body, .form(parts.members), form.contentType)
        case .form(let readsStandardInput):
            if !parts.members.isEmpty { return (.bytes(Array(try parts.form().utf8)), .bytes, formType) }
            return try await standardInput(readsStandardInput, for: method).map { (.bytes($0), .bytes, formType) }
        case .items(let readsStandardInput):
            if !parts.members.isEmpty { return (.bytes(try parts.json()), .bytes, "application/json") }
            return try await standardInput(readsStandardInput, for: method).map { bytes in
                let isJSON = (try? JSONDocument(bytes)) != nil
                return (.bytes(bytes), .bytes, isJSON ? "application/json" : "application/octet-stream")
            }
        case .file(let path):
            guard parts.members.isEmpty else { throw twoBodies }
            let contentType = BodyFile.contentType(ofPath: path)
            if path == "-" { return (.bytes(try await BodyFile.readStandardInput()), .bytes, contentType) }
            let file = try BodyFile(path: path)
            return (file.requestBody, .file(file), contentType)
        }
    }

    private static let formType = "application/x-www-form-urlencoded"

    /// Returns the bytes that are redirected to standard input; `nil` if there are none, or if they are not read.
    private static func standardInput(
        _ isRead: Bool, for method: HTTPRequest.Method?
    ) async throws -> [UInt8]? {
        guard isRead, method.map(\.takesStandardInput) ?? true, BodyFile.isStandardInputRedirected else { return nil }
        let bytes = try await ProgressLine.during({ _ in "Reading standard input; -I does not" }) {
            try await BodyFile.readStandardInput()
        }
        return bytes.isEmpty ? nil : bytes
    }

    private static let twoBodies = CommandFailure(
        "A body from a file and items of a body exclude one another; only one can be sent.")

    /// Adds the fields that the transport would add, so that the record shows them. Returns whether content codings are
    /// among these fields.
    private static func addDefaults(to fields: inout HTTPFields, for method: HTTPRequest.Method) -> Bool {
        if fields[.userAgent] == nil { fields[.userAgent] = "runway/\(RunwayTool.version)" }
        guard fields[.acceptEncoding] == nil else { return false }
        let isPlain = method == .head || fields[.range] != nil
        fields[.acceptEncoding] = isPlain ? "identity" : ContentCoding.accepted
        return !isPlain
    }
}

extension HTTPRequest.Method {
    /// Whether redirected standard input becomes the body without `--body -`. Not for methods whose content has no
    /// meaning (RFC 9110 §9.3): a call in a script would read the script's own input.
    fileprivate var takesStandardInput: Bool { ![.get, .head, .options, .trace].contains(self) }
}
