import HTTPTypes

/// The request line and header fields of a request, checked against RFC 9112.
struct RequestHead: Equatable {
    /// How the end of the request's body is determined (RFC 9112 §6.3).
    enum Framing: Equatable {
        case none
        case length(Int)
        case chunked
    }

    let method: HTTPRequest.Method
    let target: String
    let version: String
    let fields: [ReceivedRequest.Field]
    let framing: Framing
    let bytes: [UInt8]

    /// Parses a head, including the empty line at its end.
    init(bytes: [UInt8]) throws(MalformedRequest) {
        self.bytes = bytes
        let lines = try Self.lines(of: bytes)
        let words = lines[0].split(separator: 32, omittingEmptySubsequences: false)
        guard words.count == 3 else {
            throw MalformedRequest(reason: "The request line is not method, target and version (RFC 9112 §3).")
        }
        guard let method = HTTPRequest.Method(String(decoding: words[0], as: UTF8.self)) else {
            throw MalformedRequest(reason: "The method is not a token (RFC 9110 §9.1).")
        }
        guard !words[1].isEmpty, words[1].allSatisfy({ $0 > 32 && $0 < 127 }) else {
            throw MalformedRequest(reason: "The target has a byte that is no visible ASCII (RFC 9112 §3.2).")
        }
        self.method = method
        self.target = String(decoding: words[1], as: UTF8.self)
        self.version = String(decoding: words[2], as: UTF8.self)
        guard version == "HTTP/1.1" || version == "HTTP/1.0" else {
            throw MalformedRequest(reason: "The version is neither HTTP/1.1 nor HTTP/1.0 (RFC 9112 §2.3).")
        }
        self.fields = try Self.fields(inLines: lines.dropFirst())
        self.framing = try Self.framing(of: fields, version: version)
        let hosts = fields.count { $0.name.lowercased() == "host" }
        guard hosts == 1 || (hosts == 0 && version == "HTTP/1.0") else {
            throw MalformedRequest(reason: "There are \(hosts) Host fields instead of one (RFC 9112 §3.2).")
        }
    }

    /// Splits a block into lines at CRLF, without the empty line at its end.
    static func lines(of bytes: [UInt8]) throws(MalformedRequest) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var start = bytes.startIndex
        for index in bytes.indices where bytes[index] == 10 {
            guard index > start, bytes[index - 1] == 13 else {
                throw MalformedRequest(reason: "A line ends in LF without CR (RFC 9112 §2.2).")
            }
            lines.append(bytes[start..<index - 1])
            start = index + 1
        }
        return lines.dropLast()
    }

    static func fields(
        inLines lines: ArraySlice<ArraySlice<UInt8>>
    ) throws(MalformedRequest) -> [ReceivedRequest.Field] {
        var fields: [ReceivedRequest.Field] = []
        for line in lines {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
                throw MalformedRequest(reason: "A header line has no colon (RFC 9112 §5).")
            }
            let name = String(decoding: line[..<colon], as: UTF8.self)
            guard HTTPField.Name(name) != nil else {
                throw MalformedRequest(reason: "A field name is not a token (RFC 9110 §5.1).")
            }
            let value = line[(colon + 1)...].trimmingWhiteSpace()
            guard value.allSatisfy({ $0 == 9 || ($0 >= 32 && $0 != 127) }) else {
                throw MalformedRequest(reason: "The value of \(name) has a control byte (RFC 9110 §5.5).")
            }
            let text =
                String(validating: value, as: UTF8.self)
                ?? String(String.UnicodeScalarView(value.map { UnicodeScalar($0) }))
            fields.append(ReceivedRequest.Field(name: name, value: text))
        }
        return fields
    }

    private static func framing(
        of fields: [ReceivedRequest.Field],
        version: String
    ) throws(MalformedRequest) -> Framing {
        let lengths = fields.filter { $0.name.lowercased() == "content-length" }.map(\.value)
        let codings = fields.filter { $0.name.lowercased() == "transfer-encoding" }.map(\.value)
        guard lengths.count + codings.count < 2 else {
            throw MalformedRequest(reason: "More than one field determines where the body ends (RFC 9112 §6.3).")
        }
        if let coding = codings.first {
            guard coding.lowercased() == "chunked", version == "HTTP/1.1" else {
                throw MalformedRequest(reason: "The transfer coding is not chunked over HTTP/1.1 (RFC 9112 §6.1).")
            }
            return .chunked
        }
        guard let length = lengths.first else { return .none }
        guard length.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }), let count = Int(length) else {
            throw MalformedRequest(reason: "The content length is not a number (RFC 9110 §8.6).")
        }
        return .length(count)
    }
}

extension ArraySlice<UInt8> {
    fileprivate func trimmingWhiteSpace() -> ArraySlice<UInt8> {
        let trimmed = drop { $0 == 32 || $0 == 9 }
        guard let last = trimmed.lastIndex(where: { $0 != 32 && $0 != 9 }) else { return [] }
        return trimmed[...last]
    }
}
