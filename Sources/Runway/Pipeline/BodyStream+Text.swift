extension BodyStream {
    /// The default limit for one line: 1 MiB.
    private static let maximumLineByteCount = 1 << 20

    /// The body as lines of text, as they arrive: for example the lines of a log, JSON values on separate lines, or
    /// server-sent events.
    ///
    /// ```swift
    /// let changes = try await network.stream(RentalChanges())
    /// for try await line in changes.body.lines { print(line) }
    /// ```
    ///
    /// A line may have at most 1 MiB. ``lines(upTo:)`` allows other sizes, and defines how lines are read.
    public var lines: some AsyncSequence<String, any Error> & Sendable { lines(upTo: Self.maximumLineByteCount) }

    /// Returns the body as lines of text, as they arrive.
    ///
    /// A line ends with LF or CRLF, which are not included. A CR without LF is part of the line. Lines may be empty.
    /// Bytes after the last line end form a line, too. The bytes are read as UTF-8: malformed ones become U+FFFD, and a
    /// byte order mark at the start of the body is omitted. At most one line and one part of the body are in memory.
    ///
    /// The sequence throws the errors of the body. If the reading task is cancelled, a body of
    /// ``NetworkLayer/stream(_:options:)`` throws ``NetworkError/Kind/cancelled``. If a line is too long, the sequence
    /// throws ``NetworkError/Kind/invalidResponse`` and stops reading.
    ///
    /// - Parameter maximumByteCount: The maximum size of one line in bytes, without its end.
    public func lines(upTo maximumByteCount: Int) -> some AsyncSequence<String, any Error> & Sendable {
        TextSequence(body: self, reader: LineReader(maximumByteCount: maximumByteCount))
    }

    /// The body as text in parts, as they arrive.
    ///
    /// The rules of ``lines(upTo:)`` apply. A character that is split between two parts belongs to the second text.
    public var textParts: some AsyncSequence<String, any Error> & Sendable {
        TextSequence(body: self, reader: TextPartReader())
    }
}

/// Reads UTF-8 text from the parts of a body. It is a pure state machine and waits for nothing.
protocol TextReader: Sendable {
    /// Supplies the next part of the body, after ``next()`` has returned `nil`.
    mutating func add(_ part: [UInt8])
    /// Returns the next piece of text, or `nil` if more bytes are needed.
    ///
    /// - Throws: ``NetworkError/Kind/invalidResponse`` if the piece is larger than allowed.
    mutating func next() throws(NetworkError) -> String?
    /// Returns the text of the remaining bytes at the end of the body, or `nil` if no bytes remain.
    mutating func end() throws(NetworkError) -> String?
}

private struct TextSequence<Reader: TextReader>: AsyncSequence, Sendable {
    let body: BodyStream
    let reader: Reader

    struct AsyncIterator: AsyncIteratorProtocol {
        /// The parts of the body; `nil` after the end and after an error.
        var parts: BodyStream.AsyncIterator?
        var reader: Reader
        private var isFirst = true

        init(parts: BodyStream.AsyncIterator, reader: Reader) {
            self.parts = parts
            self.reader = reader
        }

        mutating func next() async throws -> String? {
            do {
                guard let text = try await nextText() else { return nil }
                defer { isFirst = false }
                guard isFirst, text.unicodeScalars.first == "\u{FEFF}" else { return text }
                return String(text.unicodeScalars.dropFirst())
            } catch {
                parts = nil
                throw error
            }
        }

        private mutating func nextText() async throws -> String? {
            while var current = parts {
                if let text = try reader.next() { return text }
                let part = try await current.next()
                parts = current
                guard let part else { break }
                reader.add(part)
            }
            if parts == nil { return nil }
            parts = nil
            return try reader.end()
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(parts: body.makeAsyncIterator(), reader: reader) }
}

/// Splits text into lines.
struct LineReader: TextReader {
    let maximumByteCount: Int
    private var part: ArraySlice<UInt8> = []
    /// The start of the current line, from earlier parts.
    private var line: [UInt8] = []

    init(maximumByteCount: Int) { self.maximumByteCount = maximumByteCount }

    mutating func add(_ part: [UInt8]) { self.part = part[...] }

    mutating func next() throws(NetworkError) -> String? {
        guard let end = part.firstIndex(of: UInt8(ascii: "\n")) else {
            line += part
            part = []
            // The last byte may be the CR of a line end.
            if line.count > maximumByteCount {
                try check(line.last == UInt8(ascii: "\r") ? line.count - 1 : line.count)
            }
            return nil
        }
        line += part[..<end]
        part = part[(end + 1)...]
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        return try takeLine()
    }

    mutating func end() throws(NetworkError) -> String? { line.isEmpty ? nil : try takeLine() }

    private mutating func takeLine() throws(NetworkError) -> String {
        try check(line.count)
        defer { line.removeAll(keepingCapacity: true) }
        return String(decoding: line, as: UTF8.self)
    }

    private func check(_ byteCount: Int) throws(NetworkError) {
        guard byteCount > maximumByteCount else { return }
        throw NetworkError(
            .invalidResponse, in: .transporting,
            "A line of the body is longer than the \(maximumByteCount) bytes that its reader allows.")
    }
}

/// Splits text where the parts of the body end, but never within a character.
struct TextPartReader: TextReader {
    private var bytes: [UInt8] = []

    mutating func add(_ part: [UInt8]) { bytes += part }

    mutating func next() -> String? {
        let count = bytes.count - unfinishedByteCount
        guard count > 0 else { return nil }
        defer { bytes.removeFirst(count) }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    mutating func end() -> String? {
        defer { bytes = [] }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    /// The number of bytes at the end of the part that begin an incomplete character: at most three (RFC 3629 §3).
    private var unfinishedByteCount: Int {
        for (index, byte) in bytes.reversed().prefix(3).enumerated() where byte & 0xC0 != 0x80 {
            let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
            return length > index + 1 ? index + 1 : 0
        }
        return 0
    }
}
