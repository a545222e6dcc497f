import AsyncHTTPClient
import HTTPTypes
import NIOCore
import NIOHTTP1

@testable import Runway

extension Request {
    /// The request in the client's terms, for a whole response.
    ///
    /// - Throws: `HTTPClientError` for a URL that can't be used.
    func clientRequest(isTransparent: Bool) throws -> HTTPClient.Request {
        let clientBody: HTTPClient.Body? =
            if case .bytes(let bytes) = body { .byteBuffer(ByteBuffer(bytes: bytes)) } else { nil }
        return try HTTPClient.Request(
            url: escapedURL, method: HTTPMethod(rawValue: head.method.rawValue), headers: clientHeaders(isTransparent),
            body: clientBody)
    }

    /// The request in the client's terms, where one of the bodies is a stream.
    func streamedClientRequest(isTransparent: Bool) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: escapedURL)
        request.method = HTTPMethod(rawValue: head.method.rawValue)
        request.headers = clientHeaders(isTransparent)
        switch body {
        case .none: break
        case .bytes(let bytes): request.body = .bytes(ByteBuffer(bytes: bytes))
        case .stream(let stream, let byteCount, _):
            request.body = .stream(
                BufferSequence(stream: stream, byteCount: byteCount),
                length: byteCount.map { .known(Int64($0)) } ?? .unknown)
        }
        return request
    }

    /// The header fields, with the content codings that the transport undoes, unless it passes all as it is.
    private func clientHeaders(_ isTransparent: Bool) -> HTTPHeaders {
        var headers = HTTPHeaders()
        headers.reserveCapacity(head.headerFields.count + 2)
        for field in head.headerFields.lazy.compactMap(\.asText) {
            headers.add(name: field.name.rawName, value: field.value)
        }
        if isTransparent { return headers }
        if head.headerFields[.acceptEncoding] == nil {
            // The response to HEAD has no body to save, and its fields are of most use where they speak of the plain one. A range
            // is counted in the bytes of the coded body, of which no part can be decoded alone.
            let isPlain = head.method == .head || head.headerFields[.range] != nil
            headers.add(name: "accept-encoding", value: isPlain ? "identity" : "gzip, deflate")
        }
        if head.headerFields[.userAgent] == nil { headers.add(name: "user-agent", value: "runway") }
        return headers
    }
}

/// The parts of a body as NIO's buffers.
private struct BufferSequence: AsyncSequence, Sendable {
    let stream: BodyStream
    let byteCount: Int?

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(parts: RequestBodyParts(stream, byteCount: byteCount))
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        var parts: RequestBodyParts

        mutating func next() async throws -> ByteBuffer? { try await parts.next().map { ByteBuffer(bytes: $0) } }
    }
}
