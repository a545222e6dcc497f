import HTTPTypes
import NIOCore

/// Parses the successive responses of one HTTP/1.1 connection, without I/O.
///
/// It is strict: it refuses bytes that two recipients could interpret differently, since they would disagree on where
/// the next response starts (RFC 9112 §11.2).
struct HTTP1ResponseReader {
    /// An element of a response.
    enum Event {
        /// The head of a 1xx response.
        case informational(HTTPResponse)
        /// The head of the final response.
        case head(HTTPResponse, isEmpty: Bool, contentLength: Int?)
        /// A part of the body.
        case body(ByteBuffer)
        /// The response is complete.
        case end
    }

    enum State {
        /// Between two responses.
        case idle
        case statusLine
        case fields
        case body(remaining: Int)
        case bodyUntilClose
        case chunkSize
        case chunk(remaining: Int)
        case chunkEnd
        case trailers
    }

    /// The maximum length of a line with the size of a chunk, including extensions.
    private static let maximumChunkLineByteCount = 1024
    /// The maximum size of all chunk extensions of one response, in bytes.
    static let maximumExtensionByteCount = 16 << 10

    let maximumHeadByteCount: Int
    let maximumFieldCount: Int
    var state = State.idle
    private var buffer = ByteBuffer()
    /// The number of bytes in the buffer that are known to contain no line feed.
    private var scannedByteCount = 0
    /// The number of bytes read of the current head or trailer section.
    var headByteCount = 0
    var extensionByteCount = 0

    var method = HTTPRequest.Method.get
    /// Whether status 101 is a final response, after which the connection uses another protocol (RFC 9110 §15.2.2).
    private(set) var mayUpgrade = false
    var status = HTTPResponse.Status.ok
    var isHTTP10 = false
    var fields = HTTPFields()

    /// Whether the response permits another request on the connection (RFC 9112 §9.3).
    var isPersistent = true
    private(set) var hasBegun = false
    var version: String { isHTTP10 ? "HTTP/1.0" : "HTTP/1.1" }

    /// Creates a reader with limits for head and trailer sections.
    init(maximumHeadByteCount: Int, maximumFieldCount: Int) {
        self.maximumHeadByteCount = maximumHeadByteCount
        self.maximumFieldCount = maximumFieldCount
    }

    /// Whether bytes follow the complete response.
    var hasSurplus: Bool { if case .idle = state { buffer.readableBytes > 0 } else { false } }

    /// Prepares for the response to a request.
    ///
    /// - Parameter mayUpgrade: Whether the request asks for another protocol. The default is `false`.
    mutating func expectResponse(to method: HTTPRequest.Method, mayUpgrade: Bool = false) {
        self.method = method
        self.mayUpgrade = mayUpgrade
        isPersistent = true
        hasBegun = false
        extensionByteCount = 0
        beginHead()
    }

    mutating func feed(_ bytes: ByteBuffer) {
        guard bytes.readableBytes > 0 else { return }
        if case .idle = state {} else { hasBegun = true }
        if buffer.readableBytes == 0 { scannedByteCount = 0 }
        buffer.append(bytes)
    }

    /// Removes and returns the bytes after a response.
    mutating func takeRest() -> ByteBuffer {
        defer { buffer = ByteBuffer() }
        return buffer
    }

    /// Returns the next element of the response, or `nil` if more bytes are needed.
    ///
    /// - Throws: ``WireError/malformed(_:)``.
    mutating func next() throws(WireError) -> Event? {
        while true {
            switch state {
            case .idle: return nil
            case .statusLine:
                // The start of the line is checked before the whole line has arrived, since bytes of another protocol
                // may never contain a line end.
                guard buffer.readableBytesView.starts(withAsMuchOf: "HTTP/1.") else {
                    throw .malformed("its status line is invalid")
                }
                guard let line = try nextLine(upTo: maximumHeadByteCount) else { return nil }
                try readStatusLine(line)
                state = .fields
            case .fields:
                guard let line = try nextLine(upTo: maximumHeadByteCount) else { return nil }
                if line.readableBytes > 0 { try readField(line) } else { return try endHead() }
            case .body(remaining: 0): return end()
            case .body(let remaining):
                guard let part = readPart(upTo: remaining) else { return nil }
                state = .body(remaining: remaining - part.readableBytes)
                return .body(part)
            case .bodyUntilClose:
                return readPart(upTo: .max).map { .body($0) }
            case .chunkSize:
                guard let line = try nextLine(upTo: Self.maximumChunkLineByteCount) else { return nil }
                let size = try chunkSize(line)
                if size == 0 { beginTrailers() } else { state = .chunk(remaining: size) }
                headByteCount = 0
            case .chunk(let remaining):
                guard let part = readPart(upTo: remaining) else { return nil }
                let rest = remaining - part.readableBytes
                state = rest == 0 ? .chunkEnd : .chunk(remaining: rest)
                return .body(part)
            case .chunkEnd:
                guard let line = try nextLine(upTo: 2) else { return nil }
                guard line.readableBytes == 0 else { throw .chunks("a chunk is longer than it says") }
                headByteCount = 0
                state = .chunkSize
            case .trailers:
                guard let line = try nextLine(upTo: maximumHeadByteCount) else { return nil }
                if line.readableBytes > 0 { try readField(line) } else { return end() }
            }
        }
    }

    /// Handles the end of the connection.
    ///
    /// - Returns: ``Event/end`` if the end completes the response.
    /// - Throws: ``WireError/closed`` before a response, ``WireError/closedInResponse`` within a response.
    mutating func finish() throws(WireError) -> Event? {
        switch state {
        case .idle: return nil
        case .bodyUntilClose: return end()
        default: throw hasBegun ? .closedInResponse : .closed
        }
    }
}

extension HTTP1ResponseReader {
    mutating func beginHead() {
        state = .statusLine
        fields = HTTPFields()
        headByteCount = 0
    }

    private mutating func beginTrailers() {
        state = .trailers
        fields = HTTPFields()
    }

    private mutating func end() -> Event {
        state = .idle
        fields = HTTPFields()
        return .end
    }

    /// Returns the next line without its CRLF. RFC 9112 §2.2 permits refusing a bare LF.
    private mutating func nextLine(upTo limit: Int) throws(WireError) -> ByteBuffer? {
        let skipped = scannedByteCount
        let found = buffer.withUnsafeReadableBytes { bytes in
            bytes.dropFirst(skipped).firstIndex(of: UInt8(ascii: "\n"))
        }
        let byteCount = found.map { $0 + 1 } ?? buffer.readableBytes
        guard headByteCount + byteCount <= limit else {
            throw .malformed("a head, trailers or a chunk's size have more than \(limit) bytes")
        }
        guard found != nil else {
            scannedByteCount = buffer.readableBytes
            return nil
        }
        headByteCount += byteCount
        scannedByteCount = 0
        guard var line = buffer.readSlice(length: byteCount) else { return nil }
        guard byteCount >= 2, line.getInteger(at: line.writerIndex - 2, as: UInt8.self) == UInt8(ascii: "\r") else {
            throw .malformed("a line does not end with CRLF")
        }
        line.moveWriterIndex(to: line.writerIndex - 2)
        return line
    }

    private mutating func readPart(upTo byteCount: Int) -> ByteBuffer? {
        guard buffer.readableBytes > 0 else { return nil }
        return buffer.readSlice(length: min(byteCount, buffer.readableBytes))
    }
}
