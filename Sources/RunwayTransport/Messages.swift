import AsyncHTTPClient
import HTTPTypes
import NIOCore
import NIOHTTP1
import Runway

extension HTTPClientRequest {
    /// The request in AsyncHTTPClient's terms, with the content codings that the transport undoes.
    init(_ request: Request) {
        self.init(url: request.url)
        method = HTTPMethod(rawValue: request.head.method.rawValue)
        headers.reserveCapacity(request.head.headerFields.count + 2)
        for field in request.head.headerFields { headers.add(name: field.name.rawName, value: field.value) }
        if request.head.headerFields[.acceptEncoding] == nil { headers.add(name: "accept-encoding", value: "gzip, deflate") }
        if request.head.headerFields[.userAgent] == nil { headers.add(name: "user-agent", value: "runway") }
        switch request.body {
        case .none: break
        case .bytes(let bytes): body = .bytes(ByteBuffer(bytes: bytes))
        case .stream(let stream, let byteCount, _):
            body = .stream(BufferSequence(stream: stream), length: byteCount.map { .known(Int64($0)) } ?? .unknown)
        }
    }
}

/// The parts of a body as NIO's buffers.
private struct BufferSequence: AsyncSequence, Sendable {
    let stream: BodyStream

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(parts: stream.makeAsyncIterator()) }

    struct AsyncIterator: AsyncIteratorProtocol {
        var parts: BodyStream.AsyncIterator

        mutating func next() async throws -> ByteBuffer? { try await parts.next().map { ByteBuffer(bytes: $0) } }
    }
}

extension HTTPResponse {
    /// The head of an answer. Where the client undid a content coding, the fields that spoke of the coded body are gone.
    init(_ answer: HTTPClientResponse) {
        self.init(status: .init(code: Int(answer.status.code), reasonPhrase: answer.status.reasonPhrase))
        let coding = answer.headers.first(name: "content-encoding")?.lowercased()
        let isDecoded = coding == "gzip" || coding == "deflate"
        headerFields.reserveCapacity(answer.headers.count)
        for (name, value) in answer.headers {
            guard let name = HTTPField.Name(name) else { continue }
            if isDecoded, name == .contentEncoding || name == .contentLength { continue }
            headerFields.append(HTTPField(name: name, value: value))
        }
    }
}

extension HTTPClientResponse.Body {
    /// The whole body.
    ///
    /// - Throws: ``BodyTooLarge`` as soon as more than `maximumByteCount` bytes are known of, or what the client throws.
    func bytes(upTo maximumByteCount: Int, expecting headers: HTTPHeaders) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        // A server's word is taken for the size of the buffer only as far as the reader allows.
        if let length = headers.first(name: "content-length").flatMap({ Int($0) }), length > 0 {
            bytes.reserveCapacity(Swift.min(length, maximumByteCount))
        }
        for try await buffer in self {
            guard bytes.count + buffer.readableBytes <= maximumByteCount else {
                throw BodyTooLarge(limit: maximumByteCount)
            }
            bytes.append(contentsOf: buffer.readableBytesView)
        }
        return bytes
    }
}

extension BodyStream {
    /// The parts of an answer's body; `token` is held until the stream is let go.
    init(_ body: HTTPClientResponse.Body, until token: GaugeToken) {
        self.init {
            var iterator = body.makeAsyncIterator()
            return {
                do {
                    let buffer = try await iterator.next(isolation: #isolation)
                    return withExtendedLifetime(token) { buffer.map { Array($0.readableBytesView) } }
                } catch {
                    throw NetworkError(transport: error, for: nil)
                }
            }
        }
    }
}
