package import HTTPTypes
import RunwayFormats

/// A message in the text form of HTTP/1.1 (RFC 9112 §2.1), for example in a file or in the output of a tool.
///
/// Used by tools and tests that sign or verify a message outside a connection. Lines end in CRLF or LF. The body begins
/// after the empty line; a transfer coding is not decoded.
package struct MessageText: Sendable {
    package enum Start: Sendable, Hashable {
        case request(HTTPRequest.Method, target: String)
        case response(HTTPResponse.Status)
    }

    package let start: Start
    /// The header fields, with folded lines unfolded (RFC 9112 §5.2).
    package let headerFields: HTTPFields
    package let body: [UInt8]

    /// Parses a message. Throws a ``SignatureError`` if the text is not a message.
    package init(_ bytes: some Collection<UInt8>) throws(SignatureError) {
        var rest = Array(bytes)[...]
        start = try Self.start(of: Self.line(of: &rest))
        var lines: [[UInt8]] = []
        while !rest.isEmpty {
            let line = Self.line(of: &rest)
            if line.isEmpty { break }
            guard let last = lines.indices.last, line[line.startIndex].isBlank else {
                lines.append(Array(line))
                continue
            }
            // An obsolete line fold becomes one space, including the whitespace around it.
            lines[last] = Array(lines[last].trimmingBlanks()) + [0x20] + line.trimmingBlanks()
        }
        var fields = HTTPFields()
        for line in lines { fields.append(try Self.field(of: line)) }
        headerFields = fields
        body = Array(rest)
    }

    /// Returns the request with the authority in `Host`, or `nil` if the message is a response.
    ///
    /// - Parameter scheme: The scheme, which the text does not contain. The default is `https`.
    package func request(scheme: String = "https") -> HTTPRequest? {
        guard case .request(let method, let target) = start else { return nil }
        var fields = headerFields
        let host = fields[Self.host]
        fields[Self.host] = nil
        let isConnect = method == .connect
        return HTTPRequest(
            method: method, scheme: scheme, authority: isConnect ? target : host, path: isConnect ? nil : target,
            headerFields: fields)
    }

    /// The response; `nil` if the message is a request.
    package var response: HTTPResponse? {
        guard case .response(let status) = start else { return nil }
        return HTTPResponse(status: status, headerFields: headerFields)
    }

    private static let host = HTTPField.Name("Host", known: ())

    private static func start(of line: ArraySlice<UInt8>) throws(SignatureError) -> Start {
        let words = String(decoding: line, as: UTF8.self).split(separator: " ", maxSplits: 2)
        if words.count > 1, words[0].hasPrefix("HTTP/"), let code = Int(words[1]), (100...999).contains(code) {
            return .response(HTTPResponse.Status(code: code))
        }
        guard words.count == 3, words[2].hasPrefix("HTTP/"), let method = HTTPRequest.Method(String(words[0])) else {
            throw SignatureError(.invalidValue, "the first line")
        }
        return .request(method, target: String(words[1]))
    }

    private static func field(of line: [UInt8]) throws(SignatureError) -> HTTPField {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
            let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self))
        else { throw SignatureError(.invalidValue, "a header field's name") }
        let value = Array(line[colon...].dropFirst().trimmingBlanks())
        guard HTTPField.isValidValue(value) else { throw SignatureError(.invalidValue, name.canonicalName) }
        return HTTPField(name: name, value: value)
    }

    private static func line(of rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
        let line = rest[..<end]
        rest = rest[end...].dropFirst()
        return line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    }
}
