import HTTPTypes
import NIOCore
import Testing

@testable import RunwayTransport

/// Responses of HTTP/1.1, byte by byte (RFC 9112).
struct HTTP1ResponseReaderTests {
    /// What was read of one response.
    private struct Read: Equatable {
        var statuses: [Int] = []
        var fields = HTTPFields()
        var body = ""
        var isComplete = false
        var isPersistent = false
        var hasSurplus = false
    }

    /// Reads a response that comes in these pieces, and then the end of the connection if it is not complete.
    private func read(
        _ pieces: [ArraySlice<UInt8>], to method: HTTPRequest.Method = .get, headBytes: Int = 1000, fieldCount: Int = 20
    ) throws -> Read {
        var reader = HTTP1ResponseReader(maximumHeadByteCount: headBytes, maximumFieldCount: fieldCount)
        reader.expectResponse(to: method)
        var read = Read()
        func take(_ event: HTTP1ResponseReader.Event) {
            switch event {
            case .informational(let head): read.statuses.append(head.status.code)
            case .head(let head, _, _):
                read.statuses.append(head.status.code)
                read.fields = head.headerFields
            case .body(let part): read.body += String(buffer: part)
            case .end: read.isComplete = true
            }
        }
        for piece in pieces {
            reader.feed(ByteBuffer(bytes: piece))
            while let event = try reader.next() { take(event) }
        }
        read.isPersistent = reader.isPersistent
        read.hasSurplus = reader.hasSurplus
        if !read.isComplete, let event = try reader.finish() { take(event) }
        return read
    }

    private func read(_ text: String, to method: HTTPRequest.Method = .get) throws -> Read {
        try read([Array(text.utf8)[...]], to: method)
    }

    static let responses = [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: b\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;a=\"b\"\r\nlo\r\n0\r\nX-T: 1\r\n\r\n",
        "HTTP/1.1 103 Early\r\nLink: <a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.0 200 OK\r\n\r\nhello",
    ]

    @Test(arguments: responses)
    func cutsBetweenBytesDoNotChangeTheResponse(response: String) throws {
        let bytes = Array(response.utf8)
        let whole = try read([bytes[...]])
        #expect(whole.body == "hello" && whole.isComplete && !whole.hasSurplus)
        #expect(try read(bytes.indices.map { bytes[$0...$0] }) == whole)
        for index in bytes.indices {
            #expect(try read([bytes[..<index], bytes[index...]]) == whole, "cut at \(index)")
        }
    }

    @Test(arguments: responses.prefix(3))
    func responseThatEndsTooEarlyIsNoResponse(response: String) throws {
        let bytes = Array(response.utf8)
        for index in bytes.indices {
            let error: WireError = index == 0 ? .closed : .closedInResponse
            #expect(throws: error, "cut at \(index)") { try read([bytes[..<index]]) }
        }
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 0\n\r\n",
        "HTTP/1.1 200\tOK\r\n\r\n", "HTTP/1.1  200 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 099 OK\r\n\r\n", "HTTP/2.0 200 OK\r\n\r\n", "http/1.1 200 OK\r\n\r\n", " HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 O\u{0}K\r\n\r\n", "\r\nHTTP/1.1 200 OK\r\n\r\n", "ICY 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX A: b\r\n\r\n", "HTTP/1.1 200 OK\r\nX-A : b\r\n\r\n", "HTTP/1.1 200 OK\r\n: b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX-A\r\n\r\n", "HTTP/1.1 200 OK\r\nX-A: b\u{0}c\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX-A: b\rContent-Length: 9\r\n\r\n", "HTTP/1.1 200 OK\r\n X-A: b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length:\r\n 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n , gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        "HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\nhello!", "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: 0x5\r\n\r\nhello", "HTTP/1.1 200 OK\r\nContent-Length: 5 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 9999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: \"gzip\"\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: ,\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: gzip\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: 5,,5\r\n\r\nhello",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nhello",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: identity\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity;a=b\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: \u{B}chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5 \r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloX\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;\u{0}\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nno colon\r\n\r\n",
    ])
    func ambiguousResponseIsRefused(response: String) throws {
        let error = try #require(throws: WireError.self) { try read(response) }
        switch error {
        case .malformed, .chunks: break
        default: Issue.record("\(error)")
        }
    }

    /// Before a caller takes the head for that of a good response.
    @Test(arguments: [
        ("gzip, chunked", "gzip"), ("chunked, gzip", "gzip"), ("foo;a=b", "foo"), ("gzip", "gzip"), ("Zork", "zork"),
        ("identity, zork", "zork"), ("gzip\r\nTransfer-Encoding: chunked", "gzip"),
    ])
    func unknownTransferCodingIsRefusedWithTheHead(codings: String, unknown: String) throws {
        let response = "HTTP/1.1 200 OK\r\nTransfer-Encoding: \(codings)\r\n\r\nhello"
        var reader = HTTP1ResponseReader(maximumHeadByteCount: 1000, maximumFieldCount: 20)
        reader.expectResponse(to: .get)
        reader.feed(ByteBuffer(string: response))
        #expect(throws: WireError.transferCoding(unknown)) { try reader.next() }
        #expect(try read(response, to: .head).isComplete)
    }

    @Test(arguments: ["identity", "Identity", " identity , ", "identity\r\nTransfer-Encoding: identity"])
    func identityBodyEndsWithTheConnection(codings: String) throws {
        let response = try read("HTTP/1.1 200 OK\r\nTransfer-Encoding: \(codings)\r\n\r\n5\r\nhello")
        #expect(response.body == "5\r\nhello" && response.isComplete && !response.isPersistent)
    }

    @Test func identityBeforeChunkedIsNoCoding() throws {
        let response = try read("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity, chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n")
        #expect(response.body == "hi" && response.isComplete && response.isPersistent)
    }

    @Test(arguments: ["", ";a", " ; a", ";a=b", "; a = b", ";a=\"x;\\\"y\"", ";a;b=c;d=\"\"", ";a=!#$%&'*+-.^_`|~"])
    func chunkExtensionsAreIgnored(text: String) throws {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        #expect(try read("\(head)2\(text)\r\nhi\r\n0\(text)\r\n\r\n").body == "hi")
    }

    @Test(arguments: [
        ";", ";;a", ";a;", ";a=", ";=b", " ", ";a ", ";a b", ";a=b c", ";a=\"b", ";a=\"b\"c", ";a=\"b\\\"", ";\"a\"",
        ",a",
        ";a=b=c", ";ä",
    ])
    func malformedChunkExtensionIsRefused(text: String) {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        for body in ["2\(text)\r\nhi\r\n0\r\n\r\n", "2\r\nhi\r\n0\(text)\r\n\r\n"] {
            #expect(throws: WireError.chunks("something follows the size of a chunk")) { try read(head + body) }
        }
    }

    @Test(arguments: ["HTTP/1.0", "HTTP/1.1"]) func onlyHTTP11SwitchesProtocols(version: String) throws {
        var reader = HTTP1ResponseReader(maximumHeadByteCount: 1000, maximumFieldCount: 20)
        reader.expectResponse(to: .get, mayUpgrade: true)
        reader.feed(ByteBuffer(string: "\(version) 101 Switching\r\nUpgrade: websocket\r\n\r\n"))
        let event = try? reader.next()
        #expect((event != nil) == (version == "HTTP/1.1"))
    }

    @Test(arguments: [
        "Content-Length: 5 , 5", "Content-Length:\t5\t,5 \r\nContent-Length: 05",
        "Content-Length: \(String(repeating: "0", count: 40))5", "Transfer-Encoding: , Chunked ,",
    ])
    func legalLengthIsNotRefused(field: String) throws {
        let isChunked = field.hasPrefix("T")
        let body = isChunked ? "\(String(repeating: "0", count: 40))5\r\nhello\r\n000\r\n\r\n" : "hello"
        let response = try read("HTTP/1.1 200 OK\r\n\(field)\r\n\r\n\(body)")
        #expect(response.body == "hello" && response.isComplete && response.isPersistent)
    }

    @Test(arguments: 0..<8) func readBytesAreReleasedForEverySplit(cut: Int) throws {
        // Each segment ends within what stands between two chunks, so that something always waits to be read.
        let content = [UInt8](repeating: 1, count: 4096)
        let frame = Array("\r\n01000\r\n".utf8)
        var reader = HTTP1ResponseReader(maximumHeadByteCount: 1000, maximumFieldCount: 20)
        reader.expectResponse(to: .get)
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n01000\r\n"
        var segment = Array(head.utf8) + content + frame.prefix(cut)
        // A reader that is slow holds them all.
        var parts: [ByteBuffer] = []
        for _ in 0..<256 {
            reader.feed(ByteBuffer(bytes: segment))
            while let event = try reader.next() { if case .body(let part) = event { parts.append(part) } }
            segment = Array(frame.dropFirst(cut)) + content + frame.prefix(cut)
        }
        #expect(parts.reduce(0) { $0 + $1.readableBytes } == 256 * content.count)
        let held = parts.map(\.storageCapacity).max() ?? 0
        #expect(held <= 4 * segment.count, "a part of \(content.count) bytes holds \(held)")
    }

    @Test func foldedValueIsOneValue() throws {
        let response = try read("HTTP/1.1 200 OK\r\nX-A: b\r\n\t c\r\nContent-Length: 0\r\n\r\n")
        #expect(response.fields[HTTPField.Name("x-a")!] == "b c")
    }

    @Test func sameLengthMayBeSaidAgain() throws {
        #expect(try read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello").body == "hello")
    }

    @Test(arguments: [
        ("HTTP/1.1", "", true), ("HTTP/1.1", "close", false), ("HTTP/1.0", "", false), ("HTTP/1.0", "Keep-Alive", true),
        ("HTTP/1.1", "x, CLOSE", false),
    ])
    func versionAndFieldDecidePersistence(version: String, connection: String, isPersistent: Bool) throws {
        let field = connection.isEmpty ? "" : "Connection: \(connection)\r\n"
        let response = try read("\(version) 200 OK\r\n\(field)Content-Length: 1\r\n\r\na")
        #expect(response.isPersistent == isPersistent)
    }

    @Test(arguments: [
        ("HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n", HTTPRequest.Method.get),
        ("HTTP/1.1 304 No\r\nContent-Length: 5\r\n\r\n", .get), ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", .head),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", .head),
    ])
    func responseWithoutBodyEndsWithItsHead(text: String, method: HTTPRequest.Method) throws {
        let response = try read(text, to: method)
        #expect(response.isComplete && response.body.isEmpty && response.isPersistent)
    }

    @Test func bytesBehindAResponseAreSeen() throws {
        #expect(try read("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab").hasSurplus)
    }

    @Test func headSizeIsBoundedHoweverItComes() throws {
        for head in [
            "HTTP/1.1 200 OK\r\nX-A: \(String(repeating: "a", count: 2000))", String(repeating: "a", count: 2000),
            "HTTP/1.1 200 OK\r\n" + String(repeating: "A: b\r\n", count: 400),
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + String(repeating: "A: b\r\n", count: 400),
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + String(repeating: "a", count: 2000),
        ] {
            let bytes = Array(head.utf8)
            #expect(throws: WireError.self) { try read([bytes[...]]) }
            #expect(throws: WireError.self) { try read(bytes.indices.map { bytes[$0...$0] }) }
        }
    }

    @Test func numberOfFieldsIsBounded() throws {
        let fields = String(repeating: "A: b\r\n", count: 21)
        #expect(throws: WireError.malformed("it has more than 20 fields")) {
            try read("HTTP/1.1 200 OK\r\n\(fields)\r\n")
        }
    }

    @Test func extensionsOfManySmallChunksAreBounded() throws {
        let chunk = "1;\(String(repeating: "a", count: 900))\r\nx\r\n"
        let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + String(repeating: chunk, count: 30)
        #expect(throws: WireError.self) { try read(text) }
    }

    @Test func bytesAboveASCIIAreUnchanged() throws {
        var bytes = Array("HTTP/1.1 200 OK\r\nX-A: ".utf8)
        bytes += [0xE9, 0xFF]
        bytes += Array("\r\nContent-Length: 0\r\n\r\n".utf8)
        let fields = try read([bytes[...]]).fields
        let value = try #require(fields.first { $0.name.canonicalName == "x-a" })
        #expect(value.withUnsafeBytesOfValue { Array($0) } == [0xE9, 0xFF])
    }
}
