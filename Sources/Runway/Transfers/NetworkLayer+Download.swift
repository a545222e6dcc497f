public import Foundation
import HTTPTypes

extension NetworkLayer {
    /// Makes one call and saves the body of its response as a file. The file appears only when it is complete.
    ///
    /// ```swift
    /// let film = try await network.download(RentalFilm(id: 7), to: file) { progress in
    ///     print(progress.fraction ?? 0)
    /// }
    /// print(film.byteCount)
    /// ```
    ///
    /// The body is written to `FILE.part` next to the file; only some hundred kilobytes of it are in memory. If the
    /// connection is lost, the missing rest is requested. The call's ``RetryPolicy`` limits the number of such
    /// requests; an attempt that received at least 256 KiB more does not count. If the call fails or is cancelled, or
    /// the process is killed, the next download of the same request to the same file continues at that position.
    ///
    /// To continue, the server must support ranges and send a strong validator of the file: an `ETag` that is not weak
    /// or, without an `ETag`, a `Last-Modified` at least a second older than `Date` (RFC 9110 §8.8, §13.1.5, §14). The
    /// validator is stored in `FILE.part.info`. Without it, or if the file has changed, the download starts over. Parts
    /// are combined only if the server has confirmed that they belong together. The digests that the server sends (RFC
    /// 9530, SHA-256 and SHA-512) are verified.
    ///
    /// Both files belong to the user and have mode 0600. The saved file also has mode 0600, unless it replaces an
    /// existing file: it then has the mode of that file. A symbolic link is replaced and not followed.
    ///
    /// The request passes all stages, and asks for the file without a content coding. The service judges only the
    /// status and header fields. If it does not accept the response, the function throws and writes nothing. The
    /// deadline of the call limits the time without a byte: each byte restarts it. The response is not cached. The
    /// record shows the saved file (`saving`).
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint to fetch. Only GET can be resumed.
    ///   - file: The file to write. Its folder must exist. Only one download at a time, of all processes, may write the
    ///     file. In the container of an app group on iOS, only downloads of this layer are excluded, because the system
    ///     terminates an app that is suspended while it holds a file lock there.
    ///   - maximumByteCount: The maximum size of the file. The default is 64 GiB, or `Int.max` if that is smaller.
    ///   - options: Settings of this call that override those of its endpoint.
    ///   - progress: Receives the progress of the download, at most ten times a second, and at the end, in the caller's
    ///     isolation.
    /// - Throws: The error of the call; ``NetworkError/Kind/storage`` if the file can't be written or another download
    ///   to it is in progress; ``NetworkError/Kind/invalidResponse`` if the file is too large, has a content coding
    ///   that the transport can't decode, or the server's responses contradict each other;
    ///   ``NetworkError/Kind/cancelled`` if the task is cancelled.
    public func download<E: Endpoint>(
        _ endpoint: E, to file: URL, upTo maximumByteCount: Int = Int(clamping: Int64(64) << 30),
        options: CallOptions = .standard, progress: TransferProgress.Report? = nil
    ) async throws(NetworkError) -> DownloadedFile {
        var options = options
        options.cache = .off
        let flight = makeFlight(E.self, options)
        flight.recorder.setEndpoint(endpoint)
        do throws(NetworkError) {
            try Self.checkDestination(file)
            let saved = try await intercepted(endpoint, in: flight) {
                RawData($0)
            } perform: { (endpoint) async throws(NetworkError) in
                let request = try assemble(endpoint, delivery: .streamed, in: flight)
                return try await TransferProgress.reported(to: progress) { report throws(NetworkError) in
                    try await self.save(request, to: file, upTo: maximumByteCount, report, in: flight)
                }
            }
            flight.finish(.succeeded)
            return saved
        } catch {
            throw flight.finish(failing: error)
        }
    }

    /// Makes a call with a request that no endpoint describes, and saves the response body, like
    /// ``download(_:to:upTo:options:progress:)``.
    package func download<Service: APIService>(
        _ request: Request, with service: Service.Type, to file: URL, progress: TransferProgress.Report? = nil
    ) async throws(NetworkError) -> DownloadedFile {
        let flight = makeExchange(with: service, CallOptions(cache: .off, retry: .standard))
        do throws(NetworkError) {
            try Self.checkDestination(file)
            let saved = try await TransferProgress.reported(to: progress) { report throws(NetworkError) in
                try await self.save(request, to: file, upTo: Int(clamping: Int64(64) << 30), report, in: flight)
            }
            flight.finish(.succeeded)
            return saved
        } catch {
            throw flight.finish(failing: error)
        }
    }

    /// - Throws: ``NetworkError/Kind/invalidParameters`` if the URL is not a file URL.
    static func checkDestination(_ file: URL) throws(NetworkError) {
        guard file.isFileURL else {
            throw NetworkError(.invalidParameters, in: .preparing, "The destination is not a file URL.")
        }
    }

    /// Downloads a file for an existing call. The caller must end the call.
    func save(
        _ request: Request, to file: URL, upTo maximumByteCount: Int, _ progress: ProgressReporter.Receiver?,
        in flight: Flight
    ) async throws(NetworkError) -> DownloadedFile {
        var request = request
        request.delivery = .streamed
        guard !request.head.headerFields.contains(.range), !request.head.headerFields.contains(.ifRange) else {
            throw NetworkError(
                .invalidParameters, in: .assembling,
                "The request has a Range or If-Range field. A download sets them itself.")
        }
        // A range counts the bytes of the coded body, and the server may code the body differently next time.
        request.head.headerFields[.acceptEncoding] = "identity"
        return try await fileClaims.run(to: file, in: flight) { () throws(NetworkError) in
            try await saveAlone(request, to: file, upTo: maximumByteCount, progress, in: flight)
        }
    }

    private func saveAlone(
        _ request: Request, to file: URL, upTo maximumByteCount: Int, _ progress: ProgressReporter.Receiver?,
        in flight: Flight
    ) async throws(NetworkError) -> DownloadedFile {
        let partial: PartialFile
        do throws(FileError) { partial = try await .open(for: file.path) } catch {
            throw NetworkError(error, in: .saving)
        }
        // The tasks of the download may hold the file a moment longer, so the file is closed explicitly.
        defer { partial.close() }
        let download = Download(
            request: request, flight: flight, partial: partial, source: flight.sourceName(of: request),
            progress: ProgressReporter(progress, clock), network: self)
        return try await download.run(upTo: max(0, maximumByteCount))
    }

    /// Removes the partial files of a download. Does nothing if there are none.
    ///
    /// - Throws: ``NetworkError/Kind/storage``.
    public func discardPartialDownload(to file: URL) throws(NetworkError) {
        do throws(FileError) { try PartialFile.remove(file.path) } catch { throw NetworkError(error, in: .saving) }
    }
}
