/// The parts of a request's body, which are together as long as was said.
package struct RequestBodyParts {
    private var parts: BodyStream.AsyncIterator
    private var remainingByteCount: Int?

    /// Starts to read a body.
    ///
    /// - Parameter byteCount: Its length; `nil` where it is not known.
    package init(_ stream: BodyStream, byteCount: Int?) {
        parts = stream.makeAsyncIterator()
        remainingByteCount = byteCount
    }

    /// The next part; `nil` at the end.
    package mutating func next() async throws(RequestBodyFailure) -> [UInt8]? {
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
package enum RequestBodyFailure: Error {
    /// Its stream threw.
    case unreadable(any Error)
    /// It is not as long as it was said to be.
    case wrongLength
    /// It is larger than what can be kept of it before it is sent.
    case tooLarge(limit: Int)

    /// What it means to a caller.
    package var meaning: (NetworkError.Kind, String) {
        switch self {
        // What made the body knows best what keeps it from being sent.
        case .unreadable(let error as NetworkError): (error.kind, error.detail)
        case .unreadable(let error):
            (.invalidParameters, "The body of the request could not be read: \(error.redactedDescription).")
        case .wrongLength: (.invalidParameters, "The body of the request is not as long as it was said to be.")
        case .tooLarge(let limit):
            (
                .invalidParameters,
                "The body of the request is larger than the \(limit) bytes that can be kept before they are sent."
            )
        }
    }

    /// What the stream threw, or else this.
    package var cause: any Error { if case .unreadable(let error) = self { error } else { self } }
}
