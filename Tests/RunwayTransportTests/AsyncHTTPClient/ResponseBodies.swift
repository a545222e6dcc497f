import AsyncHTTPClient
import HTTPTypes
import NIOCore
import NIOHTTP1

@testable import Runway
@testable import RunwayTransport

/// The head of a response, and what it says of the body. The client passes bodies as they came.
struct ResponseHead {
    /// The head with the content codings undone.
    let head: HTTPResponse
    /// The names of fields that are not in the head, since their values are not text.
    let omittedFields: [HTTPField.Name]
    /// The codings to undo, in this order.
    let codings: [ContentCoding]
    /// Whether no body can come, whatever the fields say (RFC 9110 §6.4.1).
    private let isEmpty: Bool
    /// The length that the response names; `nil` where it names none that can be read.
    private let contentLength: Int?

    init(
        _ status: HTTPResponseStatus, _ headers: HTTPHeaders, responding method: HTTPRequest.Method, isTransparent: Bool
    ) {
        var head = HTTPResponse(status: .init(code: Int(status.code), reasonPhrase: status.reasonPhrase))
        var decoded = DecodedFields(capacity: headers.count)
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { decoded.append(name, value) }
        }
        head.headerFields = decoded.fields
        omittedFields = decoded.lost
        let codings = isTransparent ? [] : ContentCoding.undoable(in: head.headerFields)
        contentLength = headers.first(name: "content-length").flatMap { $0.utf8.allSatisfy(\.isDigit) ? Int($0) : nil }
        isEmpty = isBodiless(head.status, to: method) || contentLength == 0
        self.codings = codings
        self.head = head.undoing(codings.count)
    }

    /// The codings that are undone of a body that comes.
    var codingsOfBody: [ContentCoding] { isEmpty ? [] : codings }

    /// The body, to be gathered up to a limit.
    ///
    /// - Throws: ``BodyTooLarge`` where the head promises more than the limit, or ``ContentDecoder/Failure``.
    func body(upTo maximumByteCount: Int, _ limits: ContentDecoder.Limits) throws -> WholeBody {
        let decoder = codingsOfBody.isEmpty ? nil : try ContentDecoder(codingsOfBody, limits: limits)
        return try WholeBody(decoder, contentLength: isEmpty ? nil : contentLength, upTo: maximumByteCount)
    }
}

extension BodyStream {
    /// The parts of a response's body; `token` is held until the stream is released.
    init(
        _ response: HTTPClientResponse, _ head: ResponseHead, _ limits: ContentDecoder.Limits, from authority: String?,
        until token: GaugeToken
    ) {
        let codings = head.codingsOfBody
        self.init {
            var iterator = response.body.makeAsyncIterator()
            var parts = DecodedParts(undoing: codings, limits: limits)
            return {
                do {
                    let part = try await parts.next { try await iterator.next(isolation: #isolation) }
                    return withExtendedLifetime(token) { part }
                } catch {
                    throw NetworkError(client: error, from: authority)
                }
            }
        }
    }
}
