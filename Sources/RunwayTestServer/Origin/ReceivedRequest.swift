public import HTTPTypes

/// One request as a ``ScriptedOrigin`` received it, without any normalisation.
public struct ReceivedRequest: Sendable, Hashable {
    /// A header or trailer field as the client sent it.
    public struct Field: Sendable, Hashable, CustomStringConvertible {
        /// The name, in the letter case that the client sent.
        public let name: String
        /// The value without surrounding white space, decoded as UTF-8, or as ISO Latin-1 if it is not UTF-8.
        public let value: String

        /// The field as `name: value`.
        public var description: String { "\(name): \(value)" }
    }

    /// The method, in the letter case that the client sent.
    public let method: HTTPRequest.Method
    /// The request target exactly as sent, for example `/list?city=%E4%B8%8A%E6%B5%B7`.
    public let target: String
    /// The HTTP version: `HTTP/1.1` or `HTTP/1.0`.
    public let version: String
    /// The header fields, in the order in which they were sent.
    public let fields: [Field]
    /// The bytes of the request line and the header fields, including the empty line that ends them.
    public let head: [UInt8]
    /// The body without transfer coding. Bytes beyond the origin's limits are counted, but not stored.
    public internal(set) var body: [UInt8] = []
    /// The number of received bytes of the body, including bytes that were not stored.
    public internal(set) var bodyByteCount = 0
    /// The trailer fields after a chunked body, in order.
    public internal(set) var trailers: [Field] = []
    /// Whether the whole request was received.
    ///
    /// It is `false` for a request that its client aborted. It is also `false` for a request to which the origin
    /// responded early, until the end of the request arrives.
    public internal(set) var isComplete = false
    /// Whether the origin's script had a response for this request.
    public internal(set) var isScripted = true
    /// The number of the request's connection; the first connection is 1.
    public let connection: Int
    /// The server name of the TLS handshake (RFC 6066 §3); `nil` without TLS, or if the client sent none.
    public let serverName: String?

    /// The path of the target: the part before the first `?`, without scheme and authority.
    public var path: String {
        var rest = target[...]
        if !rest.hasPrefix("/"), let scheme = rest.firstRange(of: "://") {
            let afterScheme = rest[scheme.upperBound...]
            rest = afterScheme.firstIndex(where: { $0 == "/" || $0 == "?" }).map { afterScheme[$0...] } ?? ""
            if rest.isEmpty || rest.hasPrefix("?") { return "/" }
        }
        return String(rest.prefix { $0 != "?" })
    }

    /// The query of the target as sent, without the `?`; `nil` if the target has no `?`.
    public var query: String? {
        target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
    }

    /// The body decoded as UTF-8. Invalid bytes become replacement characters.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// Returns the values of all fields with a name, in order. Letter case is ignored.
    public func values(of name: String) -> [String] {
        let name = name.lowercased()
        return fields.filter { $0.name.lowercased() == name }.map(\.value)
    }

    /// The value of the first field with a name; `nil` if there is no such field. Letter case is ignored.
    public subscript(_ name: String) -> String? { values(of: name).first }
}

extension ReceivedRequest: CustomStringConvertible {
    /// The request line, the connection and the size of the body, on one line.
    public var description: String {
        "\(method.rawValue) \(target) \(version) on connection \(connection), \(bodyByteCount) bytes of body"
            + (isComplete ? "" : ", incomplete")
    }
}

extension ReceivedRequest {
    /// Whether another request may follow on the connection (RFC 9112 §9.3).
    var allowsReuse: Bool {
        let options = values(of: "connection").flatMap { $0.split(separator: ",") }
            .map { $0.filter { !$0.isWhitespace }.lowercased() }
        if options.contains("close") { return false }
        return version == "HTTP/1.1" || options.contains("keep-alive")
    }

    /// Whether the client waits for status 100 before it sends the body (RFC 9110 §10.1.1).
    var expectsContinue: Bool {
        version == "HTTP/1.1" && values(of: "expect").contains { $0.lowercased() == "100-continue" }
    }
}

/// The error for bytes that are not a valid HTTP/1.1 request.
struct MalformedRequest: Error, Sendable, Hashable, CustomStringConvertible {
    /// The problem in one sentence, with the section of the violated rule.
    let reason: String
    /// The number of the connection on which the bytes arrived.
    var connection = 0

    /// The reason and the number of the connection.
    var description: String { "Connection \(connection): \(reason)" }
}
