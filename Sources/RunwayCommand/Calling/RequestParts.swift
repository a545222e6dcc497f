import HTTPTypes
import Runway
import RunwayJSON

/// The items of a request, grouped by the part of the request that they belong to.
struct RequestParts {
    var pairs: [Parameters.Entry] = []
    var headers = HTTPFields()
    var members: [(name: String, value: RequestItem)] = []

    mutating func add(_ item: RequestItem) {
        switch item {
        case .query(let name, let value): pairs.append(Parameters.Entry(name, .string(value)))
        case .header(let field): headers.append(field)
        case .member(let name, _), .json(let name, _), .file(let name, _): members.append((name, item))
        }
    }

    /// Whether an item is a file, so that the body is a form with files.
    var hasFiles: Bool {
        members.contains { if case .file = $0.value { true } else { false } }
    }

    /// Returns the query, with the parameters in the order of the command line.
    func query() throws -> String {
        try pairs.map { try QueryStyle.default.text(Parameters([$0])) }.joined(separator: "&")
    }

    /// Returns the URL-encoded form, with the fields in the order of the command line.
    func form() throws -> String {
        try members.map { name, item in
            guard case .member(_, let value) = item else { throw Self.unsuitable(name) }
            return try QueryStyle.default.text(Parameters([Parameters.Entry(name, .string(value))]))
        }.joined(separator: "&")
    }

    /// Returns the form with files (RFC 7578), with the parts in the order of the command line.
    func multipartForm() throws -> MultipartForm {
        let parts = try members.map { name, item in
            switch item {
            case .member(_, let value): FormPart(name: name, body: .bytes(Array(value.utf8)))
            case .file(_, let file): try file.part(name: name)
            default: throw Self.unsuitable(name)
            }
        }
        var randomness = SystemRandomNumberGenerator()
        return MultipartForm(parts, (randomness.next(), randomness.next()))
    }

    private static func unsuitable(_ name: String) -> CommandFailure {
        CommandFailure("The item \"\(name)\" is JSON, which a form can't hold; write it \(name)=value.")
    }

    /// Returns the JSON object, with the members in the order of the command line.
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
            case .query, .header, .file: break
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
