import AsyncHTTPClient
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import Runway

/// What the head of an answer says of its body.
struct AnswerFraming {
    /// Whether no body can come, whatever the fields say (RFC 9110 §6.4.1).
    let isEmpty: Bool
    /// Whether the client undoes the content coding.
    let isDecoded: Bool
    /// The length that the answer names; `nil` where it names none that can be read.
    let contentLength: Int?

    init(
        _ status: HTTPResponseStatus, _ headers: HTTPHeaders, answering method: HTTPRequest.Method, isTransparent: Bool
    ) {
        contentLength = headers.first(name: "content-length").flatMap { $0.utf8.allSatisfy(\.isDigit) ? Int($0) : nil }
        isDecoded = !isTransparent && headers.isDecoded
        isEmpty = method == .head || status == .noContent || status == .notModified || contentLength == 0
    }

    /// Whether an error only says that the client misses a coded body that was never to come.
    func isHarmless(_ error: any Error) -> Bool {
        isEmpty && error as? NIOHTTPDecompression.ExtraDecompressionError == .truncatedData
    }
}

extension HTTPHeaders {
    fileprivate var contentCodings: [Substring] { self[canonicalForm: "content-encoding"] }

    /// Whether the client undoes the content coding; it looks at the first that is named.
    var isDecoded: Bool { ["gzip", "deflate"].contains(contentCodings.first?.lowercased()) }
}

extension HTTPResponse {
    /// The head of an answer. Where the client undid a content coding, the fields that spoke of the coded body are gone.
    init(_ status: HTTPResponseStatus, _ headers: HTTPHeaders, isTransparent: Bool) {
        self.init(status: .init(code: Int(status.code), reasonPhrase: status.reasonPhrase))
        let isDecoded = !isTransparent && headers.isDecoded
        headerFields.reserveCapacity(headers.count)
        for (name, value) in headers {
            guard let name = HTTPField.Name(name), let field = HTTPField(name: name, decodedText: value) else {
                continue
            }
            if isDecoded, name == .contentEncoding || name == .contentLength { continue }
            headerFields.append(field)
        }
        // Codings are named in the order in which they were applied (RFC 9110 §8.4); only the last one was undone.
        let inner = isDecoded ? headers.contentCodings.dropLast() : []
        if !inner.isEmpty { headerFields[.contentEncoding] = inner.joined(separator: ", ") }
    }
}

/// The bytes of a body that come in part by part, up to a limit.
struct GatheredBody {
    private(set) var bytes: [UInt8] = []
    private let maximumByteCount: Int

    /// - Throws: ``BodyTooLarge`` where the head promises more than the limit.
    init(_ framing: AnswerFraming, upTo maximumByteCount: Int) throws {
        self.maximumByteCount = maximumByteCount
        guard !framing.isEmpty, let contentLength = framing.contentLength, contentLength > 0 else { return }
        guard contentLength <= maximumByteCount || framing.isDecoded else {
            throw BodyTooLarge(limit: maximumByteCount)
        }
        bytes.reserveCapacity(forPromised: min(contentLength, maximumByteCount))
    }

    /// - Throws: ``BodyTooLarge`` as soon as there are more bytes than the limit.
    mutating func append(_ buffer: ByteBuffer) throws {
        guard bytes.count + buffer.readableBytes <= maximumByteCount else {
            throw BodyTooLarge(limit: maximumByteCount)
        }
        bytes.append(contentsOf: buffer.readableBytesView)
    }
}

/// The iteration of an answer's body.
struct AnswerParts {
    private let framing: AnswerFraming
    private var iterator: HTTPClientResponse.Body.AsyncIterator

    init(_ answer: HTTPClientResponse, to request: Request, isTransparent: Bool) {
        framing = AnswerFraming(
            answer.status, answer.headers, answering: request.head.method, isTransparent: isTransparent)
        iterator = answer.body.makeAsyncIterator()
    }

    /// The next part; `nil` at the end.
    mutating func next() async throws -> ByteBuffer? {
        do {
            return try await iterator.next(isolation: #isolation)
        } catch  where framing.isHarmless(error) {
            return nil
        }
    }

    /// The whole body.
    ///
    /// - Throws: ``BodyTooLarge`` as soon as more than `maximumByteCount` bytes are known of, or what the client throws.
    mutating func gather(upTo maximumByteCount: Int) async throws -> [UInt8] {
        var body = try GatheredBody(framing, upTo: maximumByteCount)
        while let buffer = try await next() { try body.append(buffer) }
        return body.bytes
    }
}

extension BodyStream {
    /// The parts of an answer's body; `token` is held until the stream is let go.
    init(_ answer: HTTPClientResponse, to request: Request, isTransparent: Bool, until token: GaugeToken) {
        let authority = request.head.authority
        self.init {
            var parts = AnswerParts(answer, to: request, isTransparent: isTransparent)
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
