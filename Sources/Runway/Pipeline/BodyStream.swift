/// The parts of a body, one after the other, whatever produces them.
///
/// A part is asked for only when the reader wants it, so that a slow reader slows the sender down. A stream that came from
/// the network is read once; what a second iteration of it gives is not defined.
public struct BodyStream: AsyncSequence, Sendable {
    /// One part of the body; never empty.
    public typealias Element = [UInt8]

    private let makeIterator: @Sendable () -> AsyncIterator

    /// Makes a stream from a function that gives the next part, or `nil` at the end, each time it is called.
    ///
    /// - Parameter iterate: Called once for every iteration; returns the function that gives its parts.
    public init(_ iterate: @escaping @Sendable () -> (() async throws -> [UInt8]?)) {
        makeIterator = { AsyncIterator(nextPart: iterate()) }
    }

    /// Makes a stream from any sequence of parts.
    public init<Parts: AsyncSequence & Sendable>(_ parts: Parts) where Parts.Element == [UInt8] {
        self.init {
            var iterator = parts.makeAsyncIterator()
            return { try await iterator.next(isolation: #isolation) }
        }
    }

    /// Makes a stream of bytes that are in memory already; it can be read any number of times.
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
    /// - Parameter maximumByteCount: More than that is refused.
    /// - Throws: ``BodyTooLarge``, or what the stream throws.
    public func collect(upTo maximumByteCount: Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await part in self {
            guard bytes.count + part.count <= maximumByteCount else { throw BodyTooLarge(limit: maximumByteCount) }
            bytes += part
        }
        return bytes
    }

    /// The iteration of a stream.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let nextPart: () async throws -> [UInt8]?

        /// The next part that is not empty; `nil` at the end.
        public mutating func next() async throws -> [UInt8]? {
            while let part = try await nextPart() {
                if !part.isEmpty { return part }
            }
            return nil
        }
    }
}

/// A body was larger than its reader allows.
public struct BodyTooLarge: Error, Sendable, Equatable {
    /// The largest number of bytes that was allowed.
    public var limit: Int

    /// Makes the error.
    public init(limit: Int) { self.limit = limit }
}
