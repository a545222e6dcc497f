import AsyncHTTPClient
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import Runway

extension HTTPClientRequest {
    /// The request in AsyncHTTPClient's terms, with the content codings that the transport undoes.
    init(_ request: Request) {
        self.init(url: request.escapedURL)
        method = HTTPMethod(rawValue: request.head.method.rawValue)
        headers.reserveCapacity(request.head.headerFields.count + 2)
        for field in request.head.headerFields { headers.add(name: field.name.rawName, value: field.value) }
        if request.head.headerFields[.acceptEncoding] == nil {
            // The answer to HEAD has no body to save, and its fields are of most use where they speak of the plain one.
            headers.add(name: "accept-encoding", value: request.head.method == .head ? "identity" : "gzip, deflate")
        }
        if request.head.headerFields[.userAgent] == nil { headers.add(name: "user-agent", value: "runway") }
        switch request.body {
        case .none: break
        case .bytes(let bytes): body = .bytes(ByteBuffer(bytes: bytes))
        case .stream(let stream, let byteCount, _):
            body = .stream(
                BufferSequence(stream: stream, byteCount: byteCount),
                length: byteCount.map { .known(Int64($0)) } ?? .unknown)
        }
    }
}

/// The parts of a body as NIO's buffers.
private struct BufferSequence: AsyncSequence, Sendable {
    let stream: BodyStream
    let byteCount: Int?

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(parts: stream.makeAsyncIterator(), remainingByteCount: byteCount)
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        var parts: BodyStream.AsyncIterator
        var remainingByteCount: Int?

        mutating func next() async throws -> ByteBuffer? {
            guard let part = try await nextPart() else { return nil }
            remainingByteCount = remainingByteCount.map { $0 - part.count }
            // With its last part the server has a whole request and may act on it: so first it is made sure that it is the last.
            if remainingByteCount == 0, try await nextPart() != nil { throw HTTPClientError.bodyLengthMismatch }
            return ByteBuffer(bytes: part)
        }

        private mutating func nextPart() async throws -> [UInt8]? {
            do {
                return try await parts.next()
            } catch {
                throw RequestBodyFailed(cause: error)
            }
        }
    }
}

/// The stream of a request's body threw.
struct RequestBodyFailed: Error {
    let cause: any Error
}

extension HTTPResponse {
    /// The head of an answer. Where the client undid a content coding, the fields that spoke of the coded body are gone.
    init(_ answer: HTTPClientResponse) {
        self.init(status: .init(code: Int(answer.status.code), reasonPhrase: answer.status.reasonPhrase))
        let isDecoded = answer.isDecoded
        headerFields.reserveCapacity(answer.headers.count)
        for (name, value) in answer.headers {
            guard let name = HTTPField.Name(name) else { continue }
            if isDecoded, name == .contentEncoding || name == .contentLength { continue }
            headerFields.append(HTTPField(name: name, value: value))
        }
        // Codings are named in the order in which they were applied (RFC 9110 §8.4); only the last one was undone.
        let inner = isDecoded ? answer.contentCodings.dropLast() : []
        if !inner.isEmpty { headerFields[.contentEncoding] = inner.joined(separator: ", ") }
    }
}

extension HTTPClientResponse {
    fileprivate var contentCodings: [Substring] { headers[canonicalForm: "content-encoding"] }

    /// Whether the client undoes the content coding; it looks at the first that is named.
    fileprivate var isDecoded: Bool { ["gzip", "deflate"].contains(contentCodings.first?.lowercased()) }

    /// The length that the answer names; `nil` where it names none that can be read.
    private var contentLength: Int? { headers.first(name: "content-length").flatMap { Int($0) } }

    /// The parts of the body of an answer to a request of `method`.
    func parts(answering method: HTTPRequest.Method) -> AnswerParts {
        // RFC 9110 §6.4.1: whatever the fields say, there is no body here.
        let isEmpty = method == .head || status == .noContent || status == .notModified || contentLength == 0
        return AnswerParts(iterator: body.makeAsyncIterator(), isEmpty: isEmpty)
    }

    /// The whole body of an answer to a request of `method`.
    ///
    /// - Throws: ``BodyTooLarge`` as soon as more than `maximumByteCount` bytes are known of, or what the client throws.
    func bytes(upTo maximumByteCount: Int, answering method: HTTPRequest.Method) async throws -> [UInt8] {
        var parts = parts(answering: method)
        var bytes: [UInt8] = []
        if !parts.isEmpty, let contentLength, contentLength > 0 {
            guard contentLength <= maximumByteCount || isDecoded else { throw BodyTooLarge(limit: maximumByteCount) }
            // A server's word is taken for the size of the buffer only as far as the reader allows.
            bytes.reserveCapacity(min(contentLength, maximumByteCount))
        }
        while let buffer = try await parts.next() {
            guard bytes.count + buffer.readableBytes <= maximumByteCount else {
                throw BodyTooLarge(limit: maximumByteCount)
            }
            bytes.append(contentsOf: buffer.readableBytesView)
        }
        return bytes
    }
}

/// The iteration of an answer's body.
struct AnswerParts {
    fileprivate var iterator: HTTPClientResponse.Body.AsyncIterator
    /// Whether no body can come.
    let isEmpty: Bool

    /// The next part; `nil` at the end.
    mutating func next() async throws -> ByteBuffer? {
        do {
            return try await iterator.next(isolation: #isolation)
        } catch let error as NIOHTTPDecompression.ExtraDecompressionError where isEmpty && error == .truncatedData {
            // The head names a coding, and the client misses the coded body that was never to come.
            return nil
        }
    }
}

extension BodyStream {
    /// The parts of an answer's body; `token` is held until the stream is let go.
    init(_ answer: HTTPClientResponse, to request: Request, until token: GaugeToken) {
        let (method, authority) = (request.head.method, request.head.authority)
        self.init {
            var parts = answer.parts(answering: method)
            return {
                do {
                    let buffer = try await parts.next()
                    return withExtendedLifetime(token) { buffer.map { Array($0.readableBytesView) } }
                } catch {
                    throw NetworkError(transport: error, from: authority)
                }
            }
        }
    }
}
