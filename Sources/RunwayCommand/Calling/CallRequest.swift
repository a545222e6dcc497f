import Foundation
import HTTPTypes
import Runway
import RunwayJSON

/// The request that a command line describes.
struct CallRequest {
    /// The request that is sent.
    let request: Request
    /// The file that the body is read from while it is sent, if it is one.
    let bodyFile: BodyFile?

    /// The body of a request besides its items.
    enum Content {
        /// JSON, of the items.
        case json
        /// A form, of the items.
        case form
        /// The content of a file; `-` is standard input.
        case file(String)
    }

    /// Creates the request.
    ///
    /// - Throws: ``CommandFailure`` if it can't be sent.
    init(method: String, url: String, items: [String], content: Content) async throws {
        let method = try Self.method(method)
        var target = try CallTarget(url)
        var parts = Parts()
        for item in items { try parts.add(RequestItem(item)) }
        target.appendQuery(try parts.query())

        var body = RequestBody.none
        var bodyFile: BodyFile?
        var contentType: String?
        switch content {
        case .json where !parts.members.isEmpty:
            body = .bytes(try parts.json())
            contentType = "application/json"
        case .form:
            body = .bytes(Array(try parts.form().utf8))
            contentType = "application/x-www-form-urlencoded"
        case .file(let path):
            guard parts.members.isEmpty else {
                throw CommandFailure(
                    "A body from a file and items of a body exclude one another; only one can be sent.")
            }
            contentType = path.lowercased().hasSuffix(".json") ? "application/json" : "application/octet-stream"
            if path == "-" {
                body = .bytes(try await BodyFile.readStandardInput())
            } else {
                let file = try BodyFile(path: path)
                body = file.requestBody
                bodyFile = file
            }
        case .json: break
        }
        if method == .head, contentType != nil {
            throw CommandFailure("A HEAD request has no body (RFC 9110 §9.3.2).")
        }
        if let contentType, parts.headers[.contentType] == nil { parts.headers[.contentType] = contentType }
        let head = HTTPRequest(
            method: method, scheme: target.scheme, authority: target.authority, path: target.path,
            headerFields: parts.headers)
        request = Request(head: head, body: body, delivery: .streamed)
        self.bodyFile = bodyFile
    }

    private static func method(_ text: String) throws(CommandFailure) -> HTTPRequest.Method {
        if text.contains("://") {
            throw CommandFailure("The method comes before the URL, as in: runway call GET \(text).")
        }
        let known: [HTTPRequest.Method] = [.get, .head, .post, .put, .delete, .options, .trace, .patch]
        if let method = known.first(where: { $0.rawValue == text.uppercased() }) { return method }
        guard text.uppercased() != HTTPRequest.Method.connect.rawValue else {
            throw CommandFailure("CONNECT requests a tunnel, which this command does not support.")
        }
        guard let method = HTTPRequest.Method(text) else { throw CommandFailure("\"\(text)\" is not an HTTP method.") }
        return method
    }
}

/// The items of a request, sorted by what they make.
private struct Parts {
    var pairs: [Parameters.Entry] = []
    var headers = HTTPFields()
    var members: [(name: String, value: RequestItem)] = []

    mutating func add(_ item: RequestItem) {
        switch item {
        case .query(let name, let value): pairs.append(Parameters.Entry(name, .string(value)))
        case .header(let field): headers.append(field)
        case .member(let name, _), .json(let name, _): members.append((name, item))
        }
    }

    /// The query in the order of the command line.
    func query() throws -> String {
        try pairs.map { try QueryStyle.default.text(Parameters([$0])) }.joined(separator: "&")
    }

    /// The form in the order of the command line.
    func form() throws -> String {
        try members.map { name, item in
            guard case .member(_, let value) = item else {
                throw CommandFailure("The item \"\(name)\" is JSON, which a form can't hold; write it \(name)=value.")
            }
            return try QueryStyle.default.text(Parameters([Parameters.Entry(name, .string(value))]))
        }.joined(separator: "&")
    }

    /// The JSON object in the order of the command line.
    func json() throws(CommandFailure) -> [UInt8] {
        var names: Set<String> = []
        var body: [UInt8] = [UInt8(ascii: "{")]
        for (name, item) in members {
            guard names.insert(name).inserted else {
                throw CommandFailure("The member \"\(name)\" is specified twice; a JSON object has each name once.")
            }
            if body.count > 1 { body.append(UInt8(ascii: ",")) }
            body += Self.jsonString(name)
            body.append(UInt8(ascii: ":"))
            switch item {
            case .json(_, let bytes): body += bytes
            case .member(_, let value): body += Self.jsonString(value)
            case .query, .header: break
            }
        }
        body.append(UInt8(ascii: "}"))
        return body
    }

    private static func jsonString(_ text: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.string(text)
        return writer.bytes
    }
}
