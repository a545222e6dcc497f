import HTTPTypes

/// Compresses the request bodies of services that accept it (``CompressionPolicy``), and records the sizes.
///
/// The stage comes before signing, which covers the compressed bytes, and after retrying: a further attempt compresses
/// again. A streamed body passes unchanged, unless the policy requires its compression. Response bodies pass unchanged,
/// because transports decode them.
struct CompressingStage: RequestStage {
    var step: FlightStep { .compressing }
    var endsInTime: Bool { true }

    func handles(_ request: Request, in flight: Flight) -> Bool { flight.configuration.settings.compression != nil }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        guard let policy = flight.configuration.settings.compression else {
            return try await next.send(request, in: flight)
        }
        return try await next.send(compressed(request, by: policy, in: flight), in: flight)
    }

    private func compressed(_ request: Request, by policy: CompressionPolicy, in flight: Flight) -> Request {
        let contentType = request.head.headerFields[.contentType].flatMap { MediaType($0) }
        switch request.body {
        case .none: return request
        case .bytes(let bytes) where bytes.count < policy.minimumByteCount:
            return unchanged(request, .small(byteCount: bytes.count), in: flight)
        case _ where request.head.headerFields[.contentEncoding] != nil:
            return unchanged(request, .coded, in: flight)
        case _ where contentType?.isCompressed == true:
            return unchanged(request, .compressedContents, in: flight)
        case .bytes(let bytes):
            guard let coded = GzipEncoder(level: policy.level)?.encode(bytes, isLast: true),
                coded.count <= bytes.count - bytes.count / 20
            else { return unchanged(request, .noGain, in: flight) }
            flight.note(CompressionDecision.compressed(from: bytes.count, to: coded.count))
            var request = request.coded(.bytes(coded))
            request.uncompressedBody = bytes
            return request
        case .stream(let stream, _, let isReplayable):
            guard policy.compressesStreams else { return unchanged(request, .stream, in: flight) }
            flight.note(CompressionDecision.compressesStream)
            let coded = stream.gzip(level: policy.level) { from, to in
                flight.note(CompressionDecision.compressedStream(from: from, to: to))
            }
            return request.coded(.stream(coded, byteCount: nil, isReplayable: isReplayable))
        }
    }

    private func unchanged(_ request: Request, _ reason: CompressionDecision.Reason, in flight: Flight) -> Request {
        flight.note(CompressionDecision.unchanged(reason))
        return request
    }
}

extension Request {
    /// Returns the request with a gzip body and the header fields that describe it.
    fileprivate func coded(_ body: RequestBody) -> Request {
        var request = self
        request.body = body
        request.head.headerFields[.contentEncoding] = "gzip"
        // The field contains the uncompressed length. The transport sets the new length.
        request.head.headerFields[.contentLength] = nil
        return request
    }
}

private enum UncompressedBody: StageValueKey {
    static var defaultValue: [UInt8]? { nil }
}

extension Request {
    /// The body before compression, for the record; `nil` if the body was not compressed.
    var uncompressedBody: [UInt8]? {
        get { values[UncompressedBody.self] }
        set { values[UncompressedBody.self] = newValue }
    }
}

extension MediaType {
    /// Whether contents of this media type are already compressed.
    fileprivate var isCompressed: Bool {
        switch type {
        case "image": subtype != "svg+xml" && subtype != "bmp"
        case "audio", "video": true
        case "application":
            ["zip", "gzip", "x-gzip", "zstd", "x-7z-compressed", "x-xz", "x-bzip2", "pdf"].contains(subtype)
        default: type == "font" && subtype.hasPrefix("woff")
        }
    }
}

extension BodyStream {
    /// Returns the stream compressed with gzip. `end` receives the byte counts before and after compression when the
    /// last part has been read.
    fileprivate func gzip(level: Int, end: @escaping @Sendable (Int, Int) -> Void) -> BodyStream {
        BodyStream {
            var parts = makeAsyncIterator()
            var encoder = GzipEncoder(level: level)
            let hasEncoder = encoder != nil
            var (from, to) = (0, 0)
            return {
                guard hasEncoder else { throw CompressionFailed() }
                while let current = encoder {
                    let part = try await parts.next()
                    let coded = current.encode(part ?? [], isLast: part == nil)
                    from += part?.count ?? 0
                    to += coded.count
                    if part == nil {
                        encoder = nil
                        end(from, to)
                    }
                    if !coded.isEmpty { return coded }
                }
                return nil
            }
        }
    }
}

/// Thrown if there was not enough memory to compress.
private struct CompressionFailed: Error {}
