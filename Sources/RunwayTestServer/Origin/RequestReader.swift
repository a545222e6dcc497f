import HTTPTypes
import NIOCore

/// Parses HTTP/1.1 requests strictly by RFC 9112, and stores them as they were sent.
///
/// A state machine without I/O: ``append(_:)`` adds bytes, and ``next()`` returns events. A lenient server may repair
/// errors; this parser rejects them, since tests need the exact bytes that a client sends.
struct RequestReader {
    enum Event: Equatable {
        case head(RequestHead)
        case body(ByteBuffer)
        case end(trailers: [ReceivedRequest.Field])
    }

    private enum State {
        case head
        case fixedBody(remaining: Int)
        case chunkSize
        case chunk(remaining: Int)
        case chunkEnd
        case trailers
    }

    private static let lineEnd: [UInt8] = [13, 10]
    private static let maximumChunkLineBytes = 4096

    private let maximumHeadBytes: Int
    private var buffer = ByteBuffer()
    private var state = State.head

    /// Creates a parser that rejects a head or trailers of more than `maximumHeadBytes`.
    init(maximumHeadBytes: Int) { self.maximumHeadBytes = max(0, maximumHeadBytes) }

    var unreadByteCount: Int { buffer.readableBytes }

    /// Whether all received requests are complete.
    var isBetweenRequests: Bool {
        if case .head = state { return buffer.readableBytes == 0 }
        return false
    }

    mutating func append(_ bytes: ByteBuffer) {
        buffer.discardReadBytes()
        buffer.writeImmutableBuffer(bytes)
    }

    /// Returns the next event; `nil` if more bytes are needed. Do not use the reader after an error.
    mutating func next() throws(MalformedRequest) -> Event? {
        switch state {
        case .head: return try readHead()
        case .fixedBody(0): return end(trailers: [])
        case .fixedBody(let remaining):
            guard let slice = readBody(upTo: remaining) else { return nil }
            state = .fixedBody(remaining: remaining - slice.readableBytes)
            return .body(slice)
        case .chunkSize:
            guard let line = try readLine(upTo: Self.maximumChunkLineBytes, of: "A chunk size") else { return nil }
            let size = try Self.chunkSize(line)
            state = size == 0 ? .trailers : .chunk(remaining: size)
            return try next()
        case .chunk(0): return try readChunkEnd()
        case .chunk(let remaining):
            guard let slice = readBody(upTo: remaining) else { return nil }
            state = .chunk(remaining: remaining - slice.readableBytes)
            return .body(slice)
        case .chunkEnd: return try readChunkEnd()
        case .trailers: return try readTrailers()
        }
    }

    private mutating func readHead() throws(MalformedRequest) -> Event? {
        guard let bytes = try readBlock() else { return nil }
        let head = try RequestHead(bytes: bytes)
        switch head.framing {
        case .none: state = .fixedBody(remaining: 0)
        case .length(let length): state = .fixedBody(remaining: length)
        case .chunked: state = .chunkSize
        }
        return .head(head)
    }

    private mutating func readChunkEnd() throws(MalformedRequest) -> Event? {
        state = .chunkEnd
        guard let bytes = buffer.readBytes(length: 2) else { return nil }
        guard bytes == Self.lineEnd else {
            throw MalformedRequest(reason: "A chunk is not followed by CRLF (RFC 9112 §7.1).")
        }
        state = .chunkSize
        return try next()
    }

    private mutating func readTrailers() throws(MalformedRequest) -> Event? {
        if buffer.readableBytes >= 2, buffer.getBytes(at: buffer.readerIndex, length: 2) == Self.lineEnd {
            buffer.moveReaderIndex(forwardBy: 2)
            return end(trailers: [])
        }
        guard let bytes = try readBlock() else { return nil }
        return end(trailers: try RequestHead.fields(inLines: RequestHead.lines(of: bytes)[...]))
    }

    private mutating func end(trailers: [ReceivedRequest.Field]) -> Event {
        state = .head
        return .end(trailers: trailers)
    }

    private mutating func readBody(upTo limit: Int) -> ByteBuffer? {
        let length = min(limit, buffer.readableBytes)
        return length == 0 ? nil : buffer.readSlice(length: length)
    }

    /// Reads a head or trailers, including the empty line at the end.
    private mutating func readBlock() throws(MalformedRequest) -> [UInt8]? {
        let view = buffer.readableBytesView.prefix(maximumHeadBytes)
        guard let end = view.firstRange(of: Self.lineEnd + Self.lineEnd) else {
            if view.count == maximumHeadBytes {
                throw MalformedRequest(reason: "The header fields take more than \(maximumHeadBytes) bytes.")
            }
            // Without this check, the reader would wait for ever if a client ends lines with LF only.
            if view.contains(10), let line = view.firstIndex(of: 10), line == view.startIndex || view[line - 1] != 13 {
                throw MalformedRequest(reason: "A line ends in LF without CR (RFC 9112 §2.2).")
            }
            return nil
        }
        return buffer.readBytes(length: end.upperBound - view.startIndex)
    }

    private mutating func readLine(upTo limit: Int, of subject: String) throws(MalformedRequest) -> [UInt8]? {
        let view = buffer.readableBytesView.prefix(limit)
        guard let end = view.firstRange(of: Self.lineEnd) else {
            if view.count == limit { throw MalformedRequest(reason: "\(subject) takes more than \(limit) bytes.") }
            return nil
        }
        let line = buffer.readBytes(length: end.lowerBound - view.startIndex)
        buffer.moveReaderIndex(forwardBy: 2)
        return line
    }

    private static func chunkSize(_ line: [UInt8]) throws(MalformedRequest) -> Int {
        let digits = line.prefix { $0 != UInt8(ascii: ";") }
        guard !digits.isEmpty, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
            let size = Int(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw MalformedRequest(reason: "A chunk size is not a hexadecimal number (RFC 9112 §7.1).") }
        return size
    }
}
