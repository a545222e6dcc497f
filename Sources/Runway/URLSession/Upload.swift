#if canImport(FoundationNetworking)
    import Foundation

    /// A streamed body that is read into memory before the session sends it.
    ///
    /// With a stream, the session would block the one thread that serves all sessions of a process. A body in a file
    /// can crash the process: the session resumes the transfer after each read, and resuming fails if the response has
    /// already ended the transfer (seen with Swift 6.3).
    struct Upload {
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

        /// Does nothing, because the body has been read.
        func stop() {}

        /// Does nothing, because the body has been read.
        func finish() {}
    }
#endif
