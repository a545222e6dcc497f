/// Reads the parts of a request body, and verifies that they have the announced length.
package struct RequestBodyParts {
    private var parts: BodyStream.AsyncIterator
    private var remainingByteCount: Int?

    /// Starts to read a body.
    ///
    /// - Parameter byteCount: The length of the body; `nil` if it is unknown.
    package init(_ stream: BodyStream, byteCount: Int?) {
        parts = stream.makeAsyncIterator()
        remainingByteCount = byteCount
    }

    /// Returns the next part, or `nil` at the end.
    package mutating func next() async throws(RequestBodyFailure) -> [UInt8]? {
        guard let part = try await nextPart() else {
            if let remainingByteCount, remainingByteCount > 0 { throw .wrongLength }
            return nil
        }
        guard let remaining = remainingByteCount.map({ $0 - part.count }) else { return part }
        remainingByteCount = remaining
        if remaining < 0 { throw .wrongLength }
        // The last part completes the request, and the server may act on it. So the end is verified before that part is
        // returned.
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

/// The reason why the body of a request could not be sent.
package enum RequestBodyFailure: Error {
    case unreadable(any Error)
    case wrongLength
    /// The body exceeds the limit for bodies that must be buffered before they are sent.
    case tooLarge(limit: Int)

    /// The kind and the detail for the call's `NetworkError`.
    package var meaning: (NetworkError.Kind, String) {
        switch self {
        // A `NetworkError` comes from the code that produces the body. That code knows best why it failed.
        case .unreadable(let error as NetworkError): (error.kind, error.detail)
        case .unreadable(let error):
            (.invalidParameters, "The body of the request could not be read: \(error.redactedDescription).")
        case .wrongLength: (.invalidParameters, "The body of the request does not have the announced length.")
        case .tooLarge(let limit):
            (
                .invalidParameters,
                "The body of the request is larger than the \(limit) bytes that can be buffered before they are sent."
            )
        }
    }

    /// The error that the body's stream threw; this error if the stream threw none.
    package var cause: any Error { if case .unreadable(let error) = self { error } else { self } }
}
