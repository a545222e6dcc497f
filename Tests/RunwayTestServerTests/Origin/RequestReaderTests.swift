import NIOCore
import RunwayTesting
import Testing

@testable import RunwayTestServer

/// The reader alone, without sockets, so that bytes can be cut anywhere.
struct RequestReaderTests {
    private static let conversation =
        "PUT /a HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\nhello"
        + "POST /b HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=\"y\"\r\n0123456789\r\n"
        + "0\r\nX-End: yes\r\n\r\nGET /c HTTP/1.0\r\n\r\n"
        + "POST /d HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"

    private static let expected = [
        "PUT /a", "hello", "end", "POST /b", "abc0123456789", "end X-End: yes", "GET /c", "", "end", "POST /d", "",
        "end",
    ]

    @Test func wholeConversationIsReadAtOnce() throws {
        #expect(try Self.read([Array(Self.conversation.utf8)]) == Self.expected)
    }

    @Test func byteByByteIsReadTheSame() throws {
        #expect(try Self.read(Self.conversation.utf8.map { [$0] }) == Self.expected)
    }

    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func anyFragmentationIsReadTheSame(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var rest = Array(Self.conversation.utf8)[...]
        var pieces: [[UInt8]] = []
        while !rest.isEmpty {
            pieces.append(Array(rest.prefix(Int.random(in: 1...40, using: &random))))
            rest = rest.dropFirst(pieces[pieces.count - 1].count)
        }
        #expect(try Self.read(pieces) == Self.expected, "seed \(seed)")
    }

    /// Whatever bytes come, the reader returns events or an error, and never more body than it received.
    @Test(arguments: 1...500 as ClosedRange<UInt64>)
    func damagedBytesEndInEventsOrAnError(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var bytes = Array(Self.conversation.utf8)
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            let index = Int.random(in: bytes.indices, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.remove(at: index)
            default: bytes.insert(contentsOf: [13, 10, 0, 255, 57].shuffled(using: &random).prefix(2), at: index)
            }
        }
        let body = (try? Self.read([bytes]))?.reduce(0) { $0 + $1.utf8.count } ?? 0
        #expect(body < bytes.count * 4, "seed \(seed)")
    }

    @Test(arguments: [
        ("5\u{1F}", "hexadecimal"), ("", "hexadecimal"), ("FFFFFFFFFFFFFFFFF", "hexadecimal"),
        (String(repeating: "0", count: 5000), "more than 4096 bytes"),
    ])
    func chunkSizeIsANumberOfBoundedLength(line: String, reason: String) {
        let head = "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n"
        let error = #expect(throws: MalformedRequest.self) { try Self.read([Array((head + line + "\r\n").utf8)]) }
        #expect(error?.reason.contains(reason) == true)
    }

    @Test func endlessHeadIsRefused() {
        let error = #expect(throws: MalformedRequest.self) {
            try Self.read([Array(repeating: UInt8(ascii: "a"), count: 2000)])
        }
        #expect(error?.reason == "The header fields take more than 1000 bytes.")
    }

    /// Reads `pieces` and returns for each request: its method and target, its body, its end with its trailers.
    private static func read(_ pieces: [[UInt8]]) throws(MalformedRequest) -> [String] {
        var reader = RequestReader(maximumHeadBytes: 1000)
        var seen: [String] = []
        var body = ""
        for piece in pieces {
            reader.append(ByteBuffer(bytes: piece))
            while let event = try reader.next() {
                switch event {
                case .head(let head): seen.append("\(head.method) \(head.target)")
                case .body(let bytes): body += String(buffer: bytes)
                case .end(let trailers):
                    seen += [body, (["end"] + trailers.map(\.description)).joined(separator: " ")]
                    body = ""
                }
            }
        }
        return seen
    }
}
