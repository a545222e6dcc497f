extension NetworkLayer {
    /// Makes one call whose body takes long to send, such as a file, a form with files, or a stream.
    ///
    /// ```swift
    /// let response = try await network.upload(FilmUpload(film: file, id: 7)) { progress in
    ///     print(progress.fraction ?? 0)
    /// }
    /// ```
    ///
    /// It differs from ``call(_:options:)`` in two ways. The deadline of the call limits the time without a sent byte:
    /// each byte restarts it, and after the last one it limits the wait for the response. And `progress` counts the
    /// bytes that were passed to the transport; the server may not have received them yet. If the body has to be sent
    /// again, for a further attempt, a redirect or a new access token, it is sent from its start, and its progress
    /// starts again.
    ///
    /// If the endpoint allows it (``Endpoint/uploadResumption``) and the server supports it, an interrupted upload of a
    /// file continues at the server's offset. It continues within the call, and in a later call for the same file,
    /// endpoint and account, even after the process was killed. The call's ``RetryPolicy`` limits the number of
    /// attempts; an attempt after which the server has at least 256 KiB more does not count.
    ///
    /// While a circuit is open (``CircuitLimits``), an upload that the server has partly received waits, within its
    /// deadline, until the circuit may let a request pass or the device has joined another network. A cancelled call
    /// leaves its part on the server; ``discardUpload(_:options:)`` removes it. The progress of such an upload counts
    /// the server's bytes, if the server reports them. If the server has the whole file and its response was lost, the
    /// call ends with the status and header fields of the server's response to `HEAD`, and no body.
    ///
    /// Only one call at a time, of all processes, continues an upload. In the container of an app group on iOS, only
    /// other calls of this layer are excluded.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint to call; see ``RequestBody/file(_:)`` and ``ParameterEncoding/multipart(_:)``.
    ///   - options: Settings of this call that override those of its endpoint.
    ///   - progress: Receives the progress of the upload, at most ten times a second, and at the end, in the caller's
    ///     isolation.
    /// - Throws: The same errors as ``call(_:options:)``; ``NetworkError/Kind/storage`` if a file can't be read or
    ///   changed while it was sent.
    public func upload<E: Endpoint>(
        _ endpoint: E, options: CallOptions = .standard, progress: TransferProgress.Report? = nil
    ) async throws(NetworkError) -> RawData {
        let flight = makeFlight(E.self, options)
        flight.recorder.setEndpoint(endpoint)
        do throws(NetworkError) {
            let rawData = try await intercepted(endpoint, in: flight) {
                $0
            } perform: { (endpoint) async throws(NetworkError) in
                let request = try assemble(endpoint, delivery: flight.wholeDelivery, in: flight)
                let rawData = try await TransferProgress.reported(to: progress) { report throws(NetworkError) in
                    try await self.sendCounted(request, for: endpoint, report, in: flight)
                }
                flight.storeProposal()
                return rawData
            }
            flight.finish(.succeeded)
            return rawData
        } catch {
            throw flight.finish(failing: error)
        }
    }

    /// Sends a request for an existing call. The parts of its body are reported as progress, and extend the deadline.
    /// The caller must end the call.
    func sendCounted<E: Endpoint>(
        _ request: Request, for endpoint: E, _ progress: ProgressReporter.Receiver?, in flight: Flight
    ) async throws(NetworkError) -> RawData {
        if let upload = ResumableUpload(request, E.uploadResumption, in: flight, progress, over: self) {
            return try await upload.run { response throws(NetworkError) in
                try self.checked(response, for: endpoint, in: flight).rawData
            }
        }
        if flight.options.resumption?.mustContinue == true { throw .notContinued }
        var request = request
        let reporter = ProgressReporter(progress, clock)
        let byteCount = request.body.byteCount
        request.body = request.body.counted(in: flight, reporter)
        let accepted = try await accept(request, for: endpoint, in: flight)
        if let byteCount { reporter?.report(byteCount, of: byteCount, isUrgent: true) }
        return accepted.rawData
    }
}

extension NetworkLayer {
    /// Removes the remains of an interrupted upload: the part on the server, and the record next to the file. Does
    /// nothing if there are none.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint that was called, with the same file.
    ///   - options: Settings of this call that override those of its endpoint.
    /// - Throws: The error of the request to the server. The record is removed nevertheless.
    public func discardUpload<E: Endpoint>(
        _ endpoint: E, options: CallOptions = .standard
    ) async throws(NetworkError) {
        let flight = makeFlight(E.self, options)
        flight.recorder.setEndpoint(endpoint)
        do throws(NetworkError) {
            let request = try assemble(try prepared(endpoint), delivery: flight.wholeDelivery, in: flight)
            if let upload = ResumableUpload(request, E.uploadResumption, in: flight, nil, over: self) {
                try await upload.discard()
            }
            flight.finish(.succeeded)
        } catch {
            throw flight.finish(failing: error)
        }
    }
}

extension RequestBody {
    /// The size of the parts in which a body in memory is passed to the transport: 128 KiB.
    private static let partByteCount = 128 << 10

    /// Returns this body with counted parts: they extend the deadline, and are reported when the transport takes them.
    ///
    /// - Parameter original: The body to use if nothing should be counted. The default is this body.
    fileprivate func counted(
        in flight: Flight, _ progress: ProgressReporter?, original: RequestBody? = nil
    ) -> RequestBody {
        switch self {
        case .none: return self
        case .bytes(let bytes):
            let stream = BodyStream {
                var start = 0
                return {
                    defer { start = min(bytes.count, start + Self.partByteCount) }
                    return start < bytes.count
                        ? Array(bytes[start..<min(bytes.count, start + Self.partByteCount)]) : nil
                }
            }
            return RequestBody.stream(stream, byteCount: bytes.count, isReplayable: true)
                .counted(in: flight, progress, original: self)
        case .stream(let stream, let byteCount, let isReplayable):
            var counted = BodyStream {
                var parts = stream.makeAsyncIterator()
                var taken = 0
                return {
                    // If the consumer asks for another part, it has consumed the parts before.
                    progress?.report(taken, of: byteCount, isUrgent: taken == 0)
                    if taken > 0 { flight.extendDeadline() }
                    let part = try await parts.next()
                    taken += part?.count ?? 0
                    return part
                }
            }
            counted.original = { original ?? self }
            return .stream(counted, byteCount: byteCount, isReplayable: isReplayable)
        }
    }
}
