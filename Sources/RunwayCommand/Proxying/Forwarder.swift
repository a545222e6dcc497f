import Foundation
import HTTPTypes
import HummingbirdCore
import NIOCore
import Runway

/// Forwards requests to the origin and responses to the client.
struct Forwarder: Sendable {
    /// The longest body of a request that is gathered, so that it can be sent again where a reused connection was lost. A longer one passes
    /// as it comes.
    static let maximumGatheredByteCount = 64 << 10

    let session: ProxySession

    /// Answers one request of a client.
    @concurrent func respond(
        to incoming: HummingbirdCore.Request, _ writer: consuming ResponseWriter, _ channel: any Channel
    ) async throws {
        let upload = Upload(incoming)
        if incoming.headers.contains(.expect), !upload.isAtEnd {
            try await writer.writeInformationalHead(HTTPResponse(status: .continue))
        }
        var answer = await send(head(of: incoming.head), upload)
        if !upload.isAtEnd { answer.head.headerFields[.connection] = "close" }
        try await write(answer, to: incoming.method, writer, channel)
        // Whoever sends the rest on would read the next request with it, so there is none.
        if !upload.isAtEnd { try await channel.closeFuture.get() }
    }

    // MARK: The request

    /// The request as the origin gets it.
    private func head(of head: HTTPRequest) -> HTTPRequest {
        var fields = head.headerFields.endToEnd
        fields[.contentLength] = nil
        fields[.expect] = nil
        return HTTPRequest(
            method: head.method, scheme: session.origin.scheme, authority: session.origin.authority, path: head.path,
            headerFields: fields)
    }

    private func send(_ head: HTTPRequest, _ upload: Upload) async -> Answer {
        do {
            let body = try await upload.body(gatheredUpTo: Self.maximumGatheredByteCount)
            return Answer(try await session.send(head, body))
        } catch let error as NetworkError {
            return Answer(Refusal(error))
        } catch let error as ClientSilence {
            return Answer(Refusal(.requestTimeout, "\(error)"))
        } catch {
            return Answer(Refusal(.badRequest, "The body of the request can't be read: \(error.redactedDescription)."))
        }
    }

    // MARK: The response

    @concurrent private func write(
        _ answer: Answer, to method: HTTPRequest.Method, _ writer: consuming ResponseWriter, _ channel: any Channel
    ) async throws {
        var head = answer.head
        let hasBody = method != .head && head.status.code >= 200 && ![204, 304].contains(head.status.code)
        if case .whole(let rawData) = answer.body, hasBody {
            head.headerFields[.contentLength] = "\(rawData.bytes.count)"
        }
        guard hasBody, head.headerFields[.contentLength] != "0" else {
            // It is empty, and read to its end so that its record says that it is whole; first, since with the head the client may hang up.
            if case .stream(let parts) = answer.body { for try await _ in parts {} }
            try await writer.writeResponse(head)
            return
        }
        var bodyWriter = try await writer.writeHead(head)
        switch answer.body {
        case .whole(let rawData):
            if !rawData.bytes.isEmpty { try await bodyWriter.write(ByteBuffer(bytes: rawData.bytes)) }
        case .stream(let parts):
            do {
                var missing = head.headerFields[.contentLength].flatMap { Int($0) }
                var rest = parts.makeAsyncIterator()
                var part = try await rest.next()
                while let bytes = part {
                    missing = missing.map { $0 - bytes.count }
                    // With the last byte of a known length the client may hang up, by which a body that still goes on is given up.
                    let isLast = missing == 0
                    if isLast { part = try await rest.next() }
                    try await bodyWriter.write(ByteBuffer(bytes: bytes))
                    if !isLast { part = try await rest.next() }
                }
            } catch {
                // Too late for a status. Only a cut connection tells the client that the body is not whole.
                channel.close(promise: nil)
                throw error
            }
        }
        try await bodyWriter.finish(nil)
    }
}

/// What a client gets.
private struct Answer: Sendable {
    var head: HTTPResponse
    var body: Runway.ResponseBody

    init(_ response: Runway.Response) {
        let fields = response.head.headerFields
        head = response.head
        head.headerFields = fields.endToEnd
        // The one length by which the body was read (RFC 9112 §6.3), where there may be one (RFC 9110 §8.6).
        let isFramedOtherwise = fields.contains(.transferEncoding) || head.status == .noContent
        let length = isFramedOtherwise ? nil : ContentLength.understood(fields[values: .contentLength])
        head.headerFields[.contentLength] = length.map { "\($0)" }
        // Who has a clock dates what it forwards (RFC 9110 §6.6.1).
        if head.headerFields[.date] == nil { head.headerFields[.date] = HTTPDate(Date.now).text }
        body = response.body
    }

    init(_ refusal: Refusal) {
        head = HTTPResponse(status: refusal.status, headerFields: refusal.headerFields)
        body = .whole(RawData(refusal.json))
    }
}
