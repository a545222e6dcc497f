public import HTTPTypes

/// One request as a ``ScriptedOrigin`` received it, byte for byte.
public struct ReceivedRequest: Sendable, Hashable {
    /// A header or trailer field as it stood on the wire.
    public struct Field: Sendable, Hashable, CustomStringConvertible {
        /// The name, in the case in which it was sent.
        public let name: String
        /// The value without the white space around it; read as UTF-8, or as ISO Latin-1 if it is not UTF-8.
        public let value: String

        /// `name: value`.
        public var description: String { "\(name): \(value)" }
    }

    /// The method, in the case in which it was sent.
    public let method: HTTPRequest.Method
    /// The request target exactly as sent, for example `/list?city=%E4%B8%8A%E6%B5%B7`.
    public let target: String
    /// `HTTP/1.1` or `HTTP/1.0`.
    public let version: String
    /// The header fields in the order in which they were sent.
    public let fields: [Field]
    /// The request line and the header fields as bytes, with the empty line that ends them.
    public let head: [UInt8]
    /// The body without its transfer coding; bytes beyond the origin's limits are counted, not recorded.
    public internal(set) var body: [UInt8] = []
    /// The number of received bytes of the body, whether they were stored or not.
    public internal(set) var bodyByteCount = 0
    /// The fields after a chunked body, in order.
    public internal(set) var trailers: [Field] = []
    /// Whether all of the request was received.
    ///
    /// False for a request whose response is sent before its end, until the end was received, and for one that its
    /// client aborted.
    public internal(set) var isComplete = false
    /// Whether the origin's script had a response for this request.
    public internal(set) var isScripted = true
    /// The number of the request's connection; the origin's first connection is 1.
    public let connection: Int
    /// The server name of the TLS handshake (RFC 6066 §3); `nil` if there was none.
    public let serverName: String?

    /// The target's path: the part before the first `?`, without scheme and authority.
    public var path: String {
        var rest = target[...]
        if !rest.hasPrefix("/"), let scheme = rest.firstRange(of: "://") {
            let afterScheme = rest[scheme.upperBound...]
            rest = afterScheme.firstIndex(where: { $0 == "/" || $0 == "?" }).map { afterScheme[$0...] } ?? ""
            if rest.isEmpty || rest.hasPrefix("?") { return "/" }
        }
        return String(rest.prefix { $0 != "?" })
    }

    /// The target's query as sent, without the `?`; nil when there is no `?`.
    public var query: String? {
        target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
    }

    /// The body as text; bytes that are not UTF-8 become replacement characters.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// Returns the values of every field called `name`, in order, whatever the case of the name.
    public func values(of name: String) -> [String] {
        let name = name.lowercased()
        return fields.filter { $0.name.lowercased() == name }.map(\.value)
    }

    /// The value of the first field called `name`, whatever the case of the name.
    public subscript(_ name: String) -> String? { values(of: name).first }
}

extension ReceivedRequest: CustomStringConvertible {
    /// One line: the request line, the connection and the size of the body.
    public var description: String {
        "\(method.rawValue) \(target) \(version) on connection \(connection), \(bodyByteCount) bytes of body"
            + (isComplete ? "" : ", incomplete")
    }
}

extension ReceivedRequest {
    /// Whether the connection may carry another request after this one (RFC 9112 §9.3).
    var allowsReuse: Bool {
        let options = values(of: "connection").flatMap { $0.split(separator: ",") }
            .map { $0.filter { !$0.isWhitespace }.lowercased() }
        if options.contains("close") { return false }
        return version == "HTTP/1.1" || options.contains("keep-alive")
    }

    /// Whether the client waits for a 100 before it sends the body (RFC 9110 §10.1.1).
    var expectsContinue: Bool {
        version == "HTTP/1.1" && values(of: "expect").contains { $0.lowercased() == "100-continue" }
    }
}

/// Bytes from a client that are not an HTTP/1.1 request.
public struct MalformedRequest: Error, Sendable, Hashable, CustomStringConvertible {
    /// The problem, as a sentence with the rule's section.
    public let reason: String
    /// The number of the connection on which the bytes arrived.
    public internal(set) var connection = 0

    /// The reason and the connection.
    public var description: String { "Connection \(connection): \(reason)" }
}
