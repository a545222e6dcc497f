import Foundation
import HTTPTypes
import Runway
import RunwayJSON
import RunwayTransport

struct CallRequest {
    var request: Request
    /// The content of the body, from which a curl command line is made.
    let body: Body
    /// Whether the call added the `Accept-Encoding` field itself. If it did, a curl command line has to decode the
    /// content codings in this field.
    let acceptsDefaultCodings: Bool

    enum Body {
        case none
        /// Bytes in memory, which a record can show.
        case bytes
        case file(BodyFile)
        case form([(name: String, value: RequestItem)])

        /// A description of a body that is not in memory; `nil` for bytes.
        var remark: String? {
            switch self {
            case .none, .bytes: nil
            case .file(let file): "The body is the content of \"\(file.path)\"."
            case .form(let members): "The body is a form with the parts \(members.map(\.name).joined(separator: ", "))."
            }
        }
    }

    /// The options that determine the body of a request, together with the items of the command line.
    enum Content {
        /// The items make the body: a JSON object, or a form if one of them is a file. Without items that belong to the
        /// body, redirected standard input is the body.
        case items(readsStandardInput: Bool)
        /// The items make a form. Without items that belong to the form, redirected standard input is the body. The
        /// input then has to be a form already.
        case form(readsStandardInput: Bool)
        /// The file with this path is the body; `-` is standard input.
        case file(String)
    }

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

    /// Returns redirected standard input; `nil` if it is not redirected, is empty, or is not read.
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

    /// Adds the fields that the transport would add, so that the record shows them. Returns whether it added an
    /// `Accept-Encoding` field that names content codings.
    private static func addDefaults(to fields: inout HTTPFields, for method: HTTPRequest.Method) -> Bool {
        if fields[.userAgent] == nil { fields[.userAgent] = "runway/\(RunwayTool.version)" }
        guard fields[.acceptEncoding] == nil else { return false }
        let isPlain = method == .head || fields[.range] != nil
        fields[.acceptEncoding] = isPlain ? "identity" : ContentCoding.accepted
        return !isPlain
    }
}

extension HTTPRequest.Method {
    /// Whether redirected standard input becomes the body without `--body -`. It is `false` for methods whose content
    /// has no meaning (RFC 9110 §9.3). In a script, a call with such a method would otherwise consume the script's own
    /// input.
    fileprivate var takesStandardInput: Bool { ![.get, .head, .options, .trace].contains(self) }
}
