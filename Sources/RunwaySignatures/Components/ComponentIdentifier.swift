public import HTTPTypes
import RawStructuredFieldValues

/// Names one part of an HTTP message that a signature covers (RFC 9421 §2).
///
/// ```swift
/// let covered: [ComponentIdentifier] = [.method, .authority, .path, .query, .field(.contentType)]
/// ```
///
/// Two identifiers are equal if their names are equal and their parameters are equal in any order.
public struct ComponentIdentifier: Sendable {
    /// The values derived from name and parameters. They are computed once and shared by all copies of the identifier.
    private final class Content: Sendable {
        let name: String
        let serialized: String
        let parameters: [Parameter]
        let source: Source
        let comparable: String

        init(name: String, serialized: String, parameters: [Parameter], comparable: String) {
            (self.name, self.serialized, self.parameters) = (name, serialized, parameters)
            (source, self.comparable) = (Source(name), comparable)
        }
    }

    private let content: Content

    /// The lowercase field name, or a name that begins with `@`.
    public var name: String { content.name }
    /// The identifier as it appears in the signature base and in `Signature-Input`.
    public var serialized: String { content.serialized }
    /// The parameters in the order of serialisation.
    var parameters: [Parameter] { content.parameters }
    var source: Source { content.source }
    /// The serialised form with sorted parameters, for comparison.
    private var comparable: String { content.comparable }
    /// Whether this is a derived component (RFC 9421 §2.2) rather than a field.
    var isDerived: Bool { name.utf8.first == UInt8(ascii: "@") }

    /// The part of a message that a component name refers to.
    enum Source: Sendable {
        case method, targetURI, authority, scheme, requestTarget, path, query, queryParameter, status
        case field(HTTPField.Name)
        /// An unknown derived component, or a text that is not a lowercase field name.
        case unknown
    }

    /// A parameter of a component (RFC 9421 §6.5.2).
    enum Parameter: Sendable, Hashable {
        case strict
        case member(String)
        case bytes
        case request
        case trailer
        case queryName(String)
        /// An unknown parameter, serialised. A component with an unknown parameter cannot be covered.
        case unknown(String)
    }

    /// Creates an identifier. Throws a ``SignatureError`` if `name` or a string parameter has characters other than
    /// printable ASCII.
    init(name: String, parameters: [Parameter] = []) throws(SignatureError) {
        guard let quoted = StructuredFieldText.quoted(name) else {
            throw SignatureError(.unknownComponent, "a component")
        }
        var texts: [String] = []
        for parameter in parameters { try texts.append(parameter.serialized(in: name)) }
        content = Content(
            name: name, serialized: quoted + texts.joined(), parameters: parameters,
            comparable: quoted + texts.sorted().joined())
    }

    /// Creates an identifier from constants of this file, which need no escaping.
    private init(known name: String, _ parameters: [Parameter] = []) {
        do {
            try self.init(name: name, parameters: parameters)
        } catch {
            preconditionFailure("A component that the code spells has only printable ASCII characters")
        }
    }
}

extension ComponentIdentifier {
    /// The method of the request (RFC 9421 §2.2.1).
    public static let method = ComponentIdentifier(known: "@method")
    /// The full target URI of the request (RFC 9421 §2.2.2).
    public static let targetURI = ComponentIdentifier(known: "@target-uri")
    /// The host of the target URI in lower case, and its port unless it is the scheme's default (RFC 9421 §2.2.3).
    public static let authority = ComponentIdentifier(known: "@authority")
    /// The scheme of the target URI in lower case (RFC 9421 §2.2.4).
    public static let scheme = ComponentIdentifier(known: "@scheme")
    /// The request target in the format of HTTP/1.1 (RFC 9421 §2.2.5). Prefer ``path`` and ``query``, which exist in
    /// all versions of HTTP.
    public static let requestTarget = ComponentIdentifier(known: "@request-target")
    /// The path as sent, without decoding (RFC 9421 §2.2.6).
    public static let path = ComponentIdentifier(known: "@path")
    /// The query as sent, with its question mark and without decoding (RFC 9421 §2.2.7).
    public static let query = ComponentIdentifier(known: "@query")
    /// The status code of the response (RFC 9421 §2.2.9).
    public static let status = ComponentIdentifier(known: "@status")
    /// The `Content-Digest` field with the digest of the body (RFC 9530 §2).
    public static let contentDigest = ComponentIdentifier(known: "content-digest")

    /// A query parameter, by its decoded name (RFC 9421 §2.2.8). The query must contain it exactly once.
    public static func queryParameter(_ name: String) -> ComponentIdentifier {
        ComponentIdentifier(known: "@query-param", [.queryName(FormEncoding.encoded(Array(name.utf8)))])
    }

    /// The value of a header field. Several lines are joined by a comma and a space (RFC 9421 §2.1).
    public static func field(_ name: HTTPField.Name) -> ComponentIdentifier {
        ComponentIdentifier(known: name.canonicalName)
    }

    /// The same component, taken from the request of a signed response (RFC 9421 §2.4).
    public var ofRequest: ComponentIdentifier { adding(.request) }
    /// The same field, taken from the trailer section (RFC 9421 §2.1.4).
    public var inTrailer: ComponentIdentifier { adding(.trailer) }
    /// The same field, parsed as a structured field and serialised strictly, so that its whitespace may change in
    /// transit (RFC 9421 §2.1.1).
    public var strict: ComponentIdentifier { adding(.strict) }
    /// The same field, with each line as a byte sequence (RFC 9421 §2.1.3). Use it for fields whose lines cannot be
    /// joined or are not ASCII.
    public var asBytes: ComponentIdentifier { adding(.bytes) }

    /// One member of a field that is a Dictionary (RFC 9421 §2.1.2).
    ///
    /// - Precondition: `key` is a structured-field key: lowercase letters, digits, `_`, `-`, `.` and `*`.
    public func member(_ key: String) -> ComponentIdentifier {
        precondition(StructuredFieldText.isKey(key), "A member's key is a key of a structured field")
        return adding(.member(key))
    }

    private func adding(_ parameter: Parameter) -> ComponentIdentifier {
        ComponentIdentifier(known: name, parameters + [parameter])
    }
}

extension ComponentIdentifier: Hashable {
    /// Returns whether two identifiers have the same name and the same parameters in any order.
    public static func == (left: ComponentIdentifier, right: ComponentIdentifier) -> Bool {
        left.content === right.content || left.comparable == right.comparable
    }

    /// Hashes the name and the sorted parameters.
    public func hash(into hasher: inout Hasher) { hasher.combine(comparable) }
}

extension ComponentIdentifier: CustomStringConvertible {
    /// The serialised identifier.
    public var description: String { serialized }
}

extension ComponentIdentifier {
    /// Parses an item of a covered component list.
    init(_ item: Item) throws(SignatureError) {
        guard case .string(let name) = item.rfc9651BareItem else {
            throw SignatureError(.unknownComponent, "an item that is no string")
        }
        var parameters: [Parameter] = []
        for (key, value) in item.rfc9651Parameters { parameters.append(try Parameter(key, value, in: name)) }
        try self.init(name: name, parameters: parameters)
    }
}

extension ComponentIdentifier.Source {
    fileprivate init(_ name: String) {
        switch name {
        case "@method": self = .method
        case "@target-uri": self = .targetURI
        case "@authority": self = .authority
        case "@scheme": self = .scheme
        case "@request-target": self = .requestTarget
        case "@path": self = .path
        case "@query": self = .query
        case "@query-param": self = .queryParameter
        case "@status": self = .status
        default:
            let field = HTTPField.Name(name)
            self = field.flatMap { $0.canonicalName == name ? .field($0) : nil } ?? .unknown
        }
    }
}

extension ComponentIdentifier.Parameter {
    fileprivate init(_ key: String, _ value: RFC9651BareItem, in name: String) throws(SignatureError) {
        switch (key, value) {
        case ("sf", .bool(true)): self = .strict
        case ("bs", .bool(true)): self = .bytes
        case ("req", .bool(true)): self = .request
        case ("tr", .bool(true)): self = .trailer
        case ("key", .string(let key)): self = .member(key)
        case ("name", .string(let name)): self = .queryName(name)
        case (_, .bool(true)): self = .unknown(";\(key)")
        default: self = .unknown(";\(key)=\(try StructuredFieldText.bareItem(value, in: name))")
        }
    }

    fileprivate func serialized(in name: String) throws(SignatureError) -> String {
        switch self {
        case .strict: return ";sf"
        case .bytes: return ";bs"
        case .request: return ";req"
        case .trailer: return ";tr"
        case .unknown(let text): return text
        case .member(let value), .queryName(let value):
            guard let quoted = StructuredFieldText.quoted(value) else { throw SignatureError(.unknownParameter, name) }
            if case .member = self { return ";key=" + quoted }
            return ";name=" + quoted
        }
    }
}
