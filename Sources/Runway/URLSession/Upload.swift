#if canImport(FoundationNetworking)
    import Foundation

    /// A body that is a stream, read into memory before the session sends it.
    ///
    /// The session would wait for a stream on the one thread that serves all sessions of a process. A body that it
    /// reads from a file can end the process: it resumes the transfer after each read, and fails if the response has
    /// ended the transfer before that (seen with Swift 6.3).
    struct Upload {
        /// The whole body.
        let bytes: Data

        /// Reads the whole body.
        ///
        /// - Throws: ``RequestBodyFailure``.
        init(_ stream: BodyStream, byteCount: Int?, upTo maximumByteCount: Int) async throws(RequestBodyFailure) {
            var parts = RequestBodyParts(stream, byteCount: byteCount)
            var bytes = Data()
            while let part = try await parts.next() {
                guard part.count <= maximumByteCount - bytes.count else {
                    throw RequestBodyFailure.tooLarge(limit: maximumByteCount)
                }
                bytes.append(contentsOf: part)
            }
            self.bytes = bytes
        }

        /// Does nothing: the body has been read.
        func stop() {}

        /// Does nothing: the body has been read.
        func finish() {}
    }
#endif
