import HTTPTypes
import Runway
import RunwaySignatures

extension Request {
    /// Sets `Content-Digest` to the digest of the body; removes it if the request has no body.
    ///
    /// A stream that can be read twice is read once for the digest, unless the request already has a digest. Throws the
    /// errors of the stream.
    mutating func addContentDigest() async throws {
        switch body.uncounted {
        case .none: head.headerFields[.contentDigest] = nil
        case .bytes(let bytes): head.headerFields[.contentDigest] = BodyDigest(of: bytes).fieldValue
        case .stream(let stream, _, _):
            if head.headerFields.contains(.contentDigest) { return }
            var digester = BodyDigester()
            for try await part in stream { digester.update(part) }
            head.headerFields[.contentDigest] = digester.finish().fieldValue
        }
    }

    /// Reads a one-time stream into memory, so that it can be digested before it is sent, and can be sent again.
    ///
    /// Throws a `NetworkError` if the stream has more than `maximum` bytes, and the errors of the stream.
    mutating func bufferStream(upTo maximum: Int) async throws {
        guard case .stream(let stream, let byteCount, false) = body else { return }
        body = .bytes(try await stream.collectedForDigest(byteCount, upTo: maximum))
    }

    /// Returns the whole body to compute its digest. Throws a `NetworkError` if it is a stream with more than `maximum`
    /// bytes, and the errors of the stream.
    func wholeBody(upTo maximum: Int) async throws -> [UInt8] {
        switch body.uncounted {
        case .none: []
        case .bytes(let bytes): bytes
        case .stream(let stream, let byteCount, _): try await stream.collectedForDigest(byteCount, upTo: maximum)
        }
    }
}

extension BodyStream {
    /// Returns all bytes of the stream. `byteCount` is the number of bytes, or `nil` if it is unknown.
    fileprivate func collectedForDigest(_ byteCount: Int?, upTo maximum: Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        if byteCount ?? 0 <= maximum {
            for try await part in self {
                bytes += part
                if bytes.count > maximum { break }
            }
            if bytes.count <= maximum, byteCount == nil || byteCount == bytes.count { return bytes }
        }
        let isTooLong = byteCount ?? bytes.count > maximum
        throw NetworkError(
            .invalidConfiguration, in: .signing,
            isTooLong
                ? "The stream has to be read into memory to be signed, and has more than \(maximum) bytes."
                : "The stream has another length than it states.",
            sending: .notSent)
    }
}
