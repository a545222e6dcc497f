/// A body that is read in parts. The source of the parts may be the network, a file or the app's own code.
///
/// A part is produced only when the reader asks for it, so a slow reader slows the sender down. A stream from the
/// network can be read only once; the result of a second iteration is undefined.
///
/// ```swift
/// .stream(BodyStream(lines), byteCount: nil, isReplayable: false)
/// ```
public struct BodyStream: AsyncSequence, Sendable {
    /// One part of the body. A part is never empty.
    public typealias Element = [UInt8]

    struct FilePart: Sendable {
        let path: String
        /// The time of the file's last modification, in nanoseconds since 1970.
        let modified: Int64
        /// The file's inode number.
        let number: UInt64
        let stream: @Sendable (Range<Int>) -> BodyStream
    }

    private let makeIterator: @Sendable () -> AsyncIterator
    /// Returns the body of an upload in a form that does not count the parts that are read; `nil` if this stream does
    /// not count them.
    var original: (@Sendable () -> RequestBody)?
    /// Returns the part of the file from one position up to, but not including, another; `nil` if the body is not a
    /// file.
    var filePart: FilePart?

    /// Creates a stream from a function. For each iteration the function is called once; it returns a function that
    /// returns the next part, or `nil` at the end.
    ///
    /// - Parameter iterate: Called once for every iteration. Returns the function that returns the parts.
    public init(_ iterate: @escaping @Sendable () -> (() async throws -> [UInt8]?)) {
        makeIterator = { AsyncIterator(nextPart: iterate()) }
    }

    /// Creates a stream from any sequence of parts.
    public init<Parts: AsyncSequence & Sendable>(_ parts: Parts) where Parts.Element == [UInt8] {
        self.init {
            var iterator = parts.makeAsyncIterator()
            return { try await iterator.next(isolation: #isolation) }
        }
    }

    /// Creates a stream of bytes in memory. The stream can be read any number of times.
    public init(_ bytes: [UInt8]) {
        self.init {
            var rest: [UInt8]? = bytes
            return {
                defer { rest = nil }
                return rest
            }
        }
    }

    /// Starts an iteration over the parts.
    public func makeAsyncIterator() -> AsyncIterator { makeIterator() }

    /// Reads the rest of the stream into memory.
    ///
    /// - Parameter maximumByteCount: The maximum number of bytes to read.
    /// - Throws: ``NetworkError/Kind/invalidResponse`` if there are more bytes, or the errors of the stream.
    public func collect(upTo maximumByteCount: Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await part in self {
            guard bytes.count + part.count <= maximumByteCount else {
                throw NetworkError(
                    .invalidResponse, in: .transporting,
                    "The body is larger than the \(maximumByteCount) bytes that its reader allows.")
            }
            bytes += part
        }
        return bytes
    }

    /// Iterates over the parts of a stream.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let nextPart: () async throws -> [UInt8]?

        /// Returns the next non-empty part, or `nil` at the end.
        public mutating func next() async throws -> [UInt8]? {
            while let part = try await nextPart() {
                if !part.isEmpty { return part }
            }
            return nil
        }
    }
}

/// Thrown if the body of a response exceeds the limit of its reader.
package struct BodyTooLarge: Error {
    package var limit: Int

    package init(limit: Int) { self.limit = limit }
}
