#if canImport(FoundationNetworking)
    import Foundation

    /// A body that is a stream, written to a file from which the session sends it.
    ///
    /// The session waits for a stream on the one thread that serves all sessions of a process, which must not wait for the body's maker.
    /// The file goes when the upload is stopped or let go.
    final class Upload: Sendable {
        /// Where the body is.
        let file: URL

        /// Writes the whole body.
        ///
        /// - Throws: ``RequestBodyFailure``, or what writing a file throws.
        init(_ stream: BodyStream, byteCount: Int?, upTo maximumByteCount: Int) async throws {
            file = FileManager.default.temporaryDirectory.appending(path: "runway-\(UUID().uuidString)")
            // Nobody else on the machine may read what is sent.
            let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
            guard FileManager.default.createFile(atPath: file.path, contents: nil, attributes: attributes) else {
                throw CocoaError(.fileWriteUnknown)
            }
            let handle = try FileHandle(forWritingTo: file)
            defer { try? handle.close() }
            var parts = RequestBodyParts(stream, byteCount: byteCount)
            var written = 0
            while let part = try await parts.next() {
                written += part.count
                guard written <= maximumByteCount else {
                    throw RequestBodyFailure.tooLarge(limit: maximumByteCount)
                }
                try handle.write(contentsOf: Data(part))
            }
        }

        deinit { stop() }

        /// Nobody sends the rest.
        func stop() { try? FileManager.default.removeItem(at: file) }
    }
#endif
