import HTTPTypes
import NIOCore

extension HTTP1ResponseReader {
    /// Reads a status line such as `HTTP/1.1 200 OK`. The reason is optional (RFC 9112 §4).
    mutating func readStatusLine(_ line: ByteBuffer) throws(WireError) {
        let parsed = line.withUnsafeReadableBytes { bytes -> (isHTTP10: Bool, code: Int, reason: String)? in
            guard bytes.count >= 12, bytes.starts(with: "HTTP/1.".utf8), bytes[7].isDigit,
                bytes[8] == UInt8(ascii: " "),
                bytes[9...11].allSatisfy(\.isDigit)
            else { return nil }
            guard bytes.count == 12 || bytes[12] == UInt8(ascii: " ") else { return nil }
            let reason = bytes.dropFirst(13)
            guard reason.allSatisfy(\.isValueCharacter) else { return nil }
            let code = bytes[9...11].reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
            return (bytes[7] == UInt8(ascii: "0"), code, String(decoding: reason, as: UTF8.self))
        }
        guard let parsed, parsed.code >= 100 else { throw .malformed("its status line is invalid") }
        isHTTP10 = parsed.isHTTP10
        status = HTTPResponse.Status(code: parsed.code, reasonPhrase: parsed.reason)
    }

    /// Reads a field line and adds it to the fields (RFC 9112 §5).
    mutating func readField(_ line: ByteBuffer) throws(WireError) {
        let bytes = line.readableBytesView
        if let first = bytes.first, first.isBlank { return try readFolded(bytes) }
        guard fields.count < maximumFieldCount else { throw .malformed("it has more than \(maximumFieldCount) fields") }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > bytes.startIndex,
            let name = HTTPField.Name(String(decoding: bytes[..<colon], as: UTF8.self))
        else { throw .malformed("a field has no valid name") }
        let value = bytes[bytes.index(after: colon)...].withoutBlanks
        guard value.allSatisfy(\.isValueCharacter) else {
            throw .malformed("the value of \(name) holds control characters")
        }
        fields.append(HTTPField(name: name, value: value))
    }

    /// Appends a folded line to the previous value, with a space for the fold (RFC 9112 §5.2). Fields that determine
    /// the length of the response must not be folded.
    private mutating func readFolded(_ bytes: ByteBufferView) throws(WireError) {
        guard let last = fields.indices.last else { throw .malformed("its first field begins with a blank") }
        let field = fields[last]
        guard ![.contentLength, .transferEncoding, .connection].contains(field.name) else {
            throw .malformed("\(field.name) is folded")
        }
        let value = bytes.withoutBlanks
        guard value.allSatisfy(\.isValueCharacter) else {
            throw .malformed("the value of \(field.name) holds control characters")
        }
        let before = field.withUnsafeBytesOfValue { Array($0) }
        fields[last] = HTTPField(name: field.name, value: before + [UInt8(ascii: " ")] + value)
    }

    /// Ends the head: determines the length of the body (RFC 9112 §6.3), and whether the connection persists (§9.3).
    mutating func endHead() throws(WireError) -> Event {
        if status == .switchingProtocols {
            guard mayUpgrade else { throw .switchedProtocols }
            // HTTP/1.0 does not have Upgrade (RFC 9110 §7.8).
            guard !isHTTP10 else { throw .malformed("it switches protocols, which HTTP/1.0 can't") }
            state = .idle
            return .head(HTTPResponse(status: status, headerFields: fields), isEmpty: true, contentLength: nil)
        }
        if status.kind == .informational {
            defer { beginHead() }
            return .informational(HTTPResponse(status: status, headerFields: fields))
        }
        let head = HTTPResponse(status: status, headerFields: fields)
        let isEmpty = isBodiless(status, to: method)
        let contentLength = try fields.contentLength()
        guard isEmpty || contentLength == nil || !fields.contains(.transferEncoding) else {
            throw .malformed("it has both Content-Length and Transfer-Encoding")
        }
        let hasChunks = isEmpty ? false : try isChunked()
        isPersistent = isHTTP10 ? fields.names("keep-alive", in: .connection) : !fields.names("close", in: .connection)
        headByteCount = 0
        if isEmpty {
            state = .body(remaining: 0)
        } else if hasChunks {
            state = .chunkSize
        } else if let contentLength {
            state = .body(remaining: contentLength)
        } else {
            isPersistent = false
            state = .bodyUntilClose
        }
        return .head(head, isEmpty: isEmpty, contentLength: contentLength)
    }

    /// Returns whether the body is chunked. Otherwise, a body with a transfer coding ends with the connection (RFC 9112
    /// §6.1, §6.3).
    ///
    /// Only `chunked` can be decoded. For any other coding, the function throws a ``WireError``, since a caller would
    /// take the coded body for the content. `identity`, which was removed in RFC 7230, does not count as a coding.
    private func isChunked() throws(WireError) -> Bool {
        let values = fields[values: .transferEncoding]
        if values.isEmpty { return false }
        let codings = values.flatMap { value in
            value.split(separator: ",").map { $0.withoutBlanks.lowercased() }.filter { !$0.isEmpty }
        }
        guard !isHTTP10 else { throw .malformed("it has a Transfer-Encoding, which HTTP/1.0 does not define") }
        // Codings other than `chunked` and `identity` may have parameters (RFC 9112 §7.1).
        let names = codings.map { String($0.prefix { $0 != ";" }.withoutBlanks) }
        guard !codings.isEmpty, names.allSatisfy({ HTTPField.Name($0) != nil && $0.utf8.count <= 32 }),
            zip(names, codings).allSatisfy({ $0 == $1 || !["chunked", "identity"].contains($0) }),
            names.count(where: { $0 == "chunked" }) <= 1
        else { throw .malformed("its Transfer-Encoding is malformed") }
        let unknown = names.first { !["chunked", "identity"].contains($0) }
        if let unknown { throw .transferCoding(unknown) }
        // If another coding followed `chunked`, some recipients would read to the last chunk, and others to the end of
        // the connection.
        guard names.last == "chunked" || !names.contains("chunked") else {
            throw .malformed("its Transfer-Encoding does not end with \"chunked\"")
        }
        return names.contains("chunked")
    }

    /// Reads the size of a chunk and ignores its extensions (RFC 9112 §7.1.1).
    mutating func chunkSize(_ line: ByteBuffer) throws(WireError) -> Int {
        let bytes = line.readableBytesView
        let digits = bytes.prefix(while: \.isHexadecimalDigit)
        let rest = bytes[digits.endIndex...]
        guard let size = Int(String(decoding: digits, as: UTF8.self), radix: 16) else {
            throw .chunks("the size of a chunk is not a number, or too large")
        }
        guard rest.areChunkExtensions else { throw .chunks("something follows the size of a chunk") }
        extensionByteCount += rest.count
        guard extensionByteCount <= Self.maximumExtensionByteCount else {
            throw .malformed("its chunks have extensions of more than \(Self.maximumExtensionByteCount) bytes")
        }
        return size
    }
}

extension UInt8 {
    var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }

    fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    /// Whether a field value may contain the byte: visible characters, spaces, tabs, and bytes above ASCII (RFC 9110
    /// §5.5).
    fileprivate var isValueCharacter: Bool { self >= 0x20 ? self != 0x7F : self == UInt8(ascii: "\t") }

    fileprivate var isHexadecimalDigit: Bool {
        isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self | 0x20)
    }

    /// Whether a token may contain the byte (RFC 9110 §5.6.2).
    fileprivate var isTokenCharacter: Bool {
        isDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
            || "!#$%&'*+-.^_`|~".utf8.contains(self)
    }
}

extension Substring {
    /// The text without leading and trailing spaces and tabs, which may surround list elements (RFC 9110 §5.6.1).
    var withoutBlanks: Substring {
        let rest = drop { $0 == " " || $0 == "\t" }
        guard let last = rest.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
        return rest[...last]
    }
}

extension ByteBufferView {
    /// Returns whether the bytes and the text are equal up to the length of the shorter one.
    func starts(withAsMuchOf text: StaticString) -> Bool {
        text.withUTF8Buffer { zip(self, $0).allSatisfy { $0 == $1 } }
    }

    /// Whether the bytes are chunk extensions or empty. An extension is a semicolon, a name, and an optional value (RFC
    /// 9112 §7.1.1).
    fileprivate var areChunkExtensions: Bool {
        guard allSatisfy(\.isValueCharacter) else { return false }
        var rest = self
        while !rest.isEmpty {
            rest = rest.drop(while: \.isBlank)
            guard rest.popFirst() == UInt8(ascii: ";") else { return false }
            rest = rest.drop(while: \.isBlank)
            guard rest.removeToken() else { return false }
            var value = rest.drop(while: \.isBlank)
            guard value.first == UInt8(ascii: "=") else { continue }
            value = value.dropFirst().drop(while: \.isBlank)
            guard value.removeToken() || value.removeQuotedString() else { return false }
            rest = value
        }
        return true
    }

    /// Removes the token at the start (RFC 9110 §5.6.2). Returns `false` if no token is there.
    private mutating func removeToken() -> Bool {
        let rest = drop(while: \.isTokenCharacter)
        defer { self = rest }
        return rest.count < count
    }

    /// Removes the quoted string at the start (RFC 9110 §5.6.4). Returns `false` if no quoted string is there.
    private mutating func removeQuotedString() -> Bool {
        guard first == UInt8(ascii: "\"") else { return false }
        var isEscaped = false
        for index in indices.dropFirst() {
            if !isEscaped, self[index] == UInt8(ascii: "\"") {
                self = self[(index + 1)...]
                return true
            }
            isEscaped = !isEscaped && self[index] == UInt8(ascii: "\\")
        }
        return false
    }

    /// The bytes without leading and trailing spaces and tabs.
    fileprivate var withoutBlanks: ByteBufferView {
        guard let first = firstIndex(where: { !$0.isBlank }), let last = lastIndex(where: { !$0.isBlank }) else {
            return self[endIndex...]
        }
        return self[first...last]
    }
}
