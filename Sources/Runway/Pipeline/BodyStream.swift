/// A body that is read part by part, whatever produces it.
///
/// A part is produced only when the reader asks for it, so that a slow reader slows the sender down. A stream from the
/// network can be read once; the result of a second iteration is undefined.
///
/// ```swift
/// .stream(BodyStream(lines), byteCount: nil, isReplayable: false)
/// ```
public struct BodyStream: AsyncSequence, Sendable {
    /// One part of the body; never empty.
    public typealias Element = [UInt8]

    /// Makes streams of parts of a file.
    struct FilePart: Sendable {
        let path: String
        /// The time of the file's last change, in nanoseconds since 1970, and its number on its disk.
        let modified: Int64
        let number: UInt64
        let stream: @Sendable (Range<Int>) -> BodyStream
    }

    private let makeIterator: @Sendable () -> AsyncIterator
    /// Returns the body of an upload whose parts this stream counts; `nil` if it counts none.
    var original: (@Sendable () -> RequestBody)?
    /// Returns the bytes of the file from a place on, to a place before which it ends; `nil` if it is not the body of a
    /// file.
    var filePart: FilePart?

    /// Creates a stream from a function. Each call returns a function that returns the next part, or `nil` at the end.
    ///
    /// - Parameter iterate: Called once for every iteration; returns the function that returns its parts.
    public init(_ iterate: @escaping @Sendable () -> (() async throws -> [UInt8]?)) {
        makeIterator = { AsyncIterator(nextPart: iterate()) }
    }

    /// Streams the parts of any sequence.
    public init<Parts: AsyncSequence & Sendable>(_ parts: Parts) where Parts.Element == [UInt8] {
        self.init {
            var iterator = parts.makeAsyncIterator()
            return { try await iterator.next(isolation: #isolation) }
        }
    }

    /// Streams bytes that are in memory; they can be read any number of times.
    public init(_ bytes: [UInt8]) {
        self.init {
            var rest: [UInt8]? = bytes
            return {
                defer { rest = nil }
                return rest
            }
        }
    }

    /// Starts an iteration.
    public func makeAsyncIterator() -> AsyncIterator { makeIterator() }

    /// Reads the rest of the stream into memory.
    ///
    /// - Parameter maximumByteCount: The most bytes that are read.
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

    /// The iteration of a stream.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let nextPart: () async throws -> [UInt8]?

        /// Returns the next part that is not empty; `nil` at the end.
        public mutating func next() async throws -> [UInt8]? {
            while let part = try await nextPart() {
                if !part.isEmpty { return part }
            }
            return nil
        }
    }
}

/// The body of a response is larger than its reader allows.
package struct BodyTooLarge: Error {
    /// The largest number of bytes that is allowed.
    package var limit: Int

    package init(limit: Int) { self.limit = limit }
}
