/// The parts of a request's body, which are together as long as was said.
struct CountedParts {
    private var parts: BodyStream.AsyncIterator
    private var remainingByteCount: Int?

    init(_ stream: BodyStream, byteCount: Int?) {
        parts = stream.makeAsyncIterator()
        remainingByteCount = byteCount
    }

    /// The next part; `nil` at the end.
    ///
    /// - Throws: ``RequestBodyFailure``.
    mutating func next() async throws(RequestBodyFailure) -> [UInt8]? {
        guard let part = try await nextPart() else {
            if let remainingByteCount, remainingByteCount > 0 { throw .wrongLength }
            return nil
        }
        guard let remaining = remainingByteCount.map({ $0 - part.count }) else { return part }
        remainingByteCount = remaining
        if remaining < 0 { throw .wrongLength }
        // With its last part the server has a whole request and may act on it: so first it is made sure that it is the last.
        if remaining == 0, try await nextPart() != nil { throw .wrongLength }
        return part
    }

    private mutating func nextPart() async throws(RequestBodyFailure) -> [UInt8]? {
        do {
            return try await parts.next()
        } catch {
            throw .unreadable(error)
        }
    }
}

/// Why the body of a request could not be sent.
enum RequestBodyFailure: Error {
    /// Its stream threw.
    case unreadable(any Error)
    /// It is not as long as it was said to be.
    case wrongLength
    /// It is larger than what can be kept of it before it is sent.
    case tooLarge(limit: Int)
}
