#if canImport(FoundationNetworking)
    import Foundation

    /// A body that is a stream, written to a file from which the session sends it.
    ///
    /// The session would wait for a stream on the one thread that serves all sessions of a process. Only the user can read the
    /// file, which is removed when the upload is stopped or released.
    final class Upload: Sendable {
        /// The file with the body.
        let file: URL

        /// Writes the whole body.
        ///
        /// - Throws: ``RequestBodyFailure`` or ``FileError``.
        init(_ stream: BodyStream, byteCount: Int?, upTo maximumByteCount: Int) async throws {
            file = FileManager.default.temporaryDirectory.appending(path: "runway-\(UUID().uuidString)")
            let (disk, path) = (DiskQueue(), file.path)
            let opened = try await disk.run { () throws(FileError) in
                try OpenFile(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
            }
            var parts = RequestBodyParts(stream, byteCount: byteCount)
            var written = 0
            while let part = try await parts.next() {
                guard part.count <= maximumByteCount - written else {
                    throw RequestBodyFailure.tooLarge(limit: maximumByteCount)
                }
                try await disk.run { [written] () throws(FileError) in try opened.write(part, at: written) }
                written += part.count
            }
        }

        deinit { finish() }

        /// Stops the upload: the task that reads the file is cancelled.
        func stop() { finish() }

        /// Removes the file; the rest is not sent.
        func finish() { try? FileManager.default.removeItem(at: file) }
    }
#endif
