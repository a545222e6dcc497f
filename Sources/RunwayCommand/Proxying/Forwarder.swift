import Foundation
import HTTPTypes
import HummingbirdCore
import NIOCore
import Runway
import Synchronization

/// Forwards requests to their servers, and responses to the client.
struct Forwarder: Sendable {
    /// The maximum size of a request body that is buffered. A buffered body can be sent again if a reused connection is
    /// lost. Larger bodies are streamed.
    static let maximumGatheredByteCount = 64 << 10

    let session: ProxySession

    @concurrent func respond(
        to incoming: HummingbirdCore.Request, _ writer: consuming ResponseWriter, _ channel: any Channel
    ) async throws {
        let upload = Upload(incoming)
        if incoming.headers.contains(.expect), !upload.isAtEnd {
            try await writer.writeInformationalHead(HTTPResponse(status: .continue))
        }
        var outgoing = await send(head(of: incoming.head), upload)
        if !upload.isAtEnd { outgoing.head.headerFields[.connection] = "close" }
        try await write(outgoing, to: incoming.method, writer, channel)
        // The unread rest of the body could be mistaken for the next request, so the connection ends.
        if !upload.isAtEnd { try await channel.closeFuture.get() }
    }

    // MARK: The request

    /// Returns the request in the form that its server receives.
    private func head(of head: HTTPRequest) -> HTTPRequest {
        var fields = head.headerFields.endToEnd
        fields[.contentLength] = nil
        fields[.expect] = nil
        return HTTPRequest(
            method: head.method, scheme: session.origin?.scheme ?? "http",
            // In a forward proxy, `Host` contains the authority of the request's target.
            authority: session.origin?.authority ?? head.authority, path: head.path,
            headerFields: fields)
    }

    private func send(_ head: HTTPRequest, _ upload: Upload) async -> OutgoingResponse {
        do {
            let body = try await upload.body(gatheredUpTo: Self.maximumGatheredByteCount)
            return OutgoingResponse(try await session.send(head, body))
        } catch let error as NetworkError {
            return OutgoingResponse(Refusal(error))
        } catch let error as ClientSilence {
            return OutgoingResponse(Refusal(.requestTimeout, "\(error)"))
        } catch {
            return OutgoingResponse(
                Refusal(.badRequest, "The body of the request can't be read: \(error.redactedDescription)."))
        }
    }

    // MARK: The response

    @concurrent private func write(
        _ outgoing: OutgoingResponse, to method: HTTPRequest.Method, _ writer: consuming ResponseWriter,
        _ channel: any Channel
    ) async throws {
        var head = outgoing.head
        let hasBody = method != .head && head.status.code >= 200 && ![204, 304].contains(head.status.code)
        if case .whole(let rawData) = outgoing.body, hasBody {
            head.headerFields[.contentLength] = "\(rawData.bytes.count)"
        }
        guard hasBody, head.headerFields[.contentLength] != "0" else {
            // The response has no body for the client, but reading the body to its end completes the call's record. It
            // is read before the head is sent, since the client may disconnect after the head.
            if case .stream(let parts) = outgoing.body { for try await _ in parts {} }
            try await writer.writeResponse(head)
            return
        }
        var bodyWriter = try await writer.writeHead(head)
        switch outgoing.body {
        case .whole(let rawData):
            if !rawData.bytes.isEmpty { try await bodyWriter.write(ByteBuffer(bytes: rawData.bytes)) }
        case .stream(let parts):
            do {
                var missing = head.headerFields[.contentLength].flatMap { Int($0) }
                var rest = parts.makeAsyncIterator()
                var part = try await rest.next()
                while let bytes = part {
                    missing = missing.map { $0 - bytes.count }
                    // After the last byte of a body with a known length, the client may disconnect, which cancels the
                    // body.
                    let isLast = missing == 0
                    if isLast { part = try await rest.next() }
                    try await bodyWriter.write(ByteBuffer(bytes: bytes))
                    if !isLast { part = try await rest.next() }
                }
            } catch {
                // The status was sent already. A closed connection shows the client that the body is incomplete.
                channel.close(promise: nil)
                throw error
            }
        }
        try await bodyWriter.finish(nil)
    }
}

/// The response as it is sent to the client.
private struct OutgoingResponse: Sendable {
    var head: HTTPResponse
    var body: Runway.ResponseBody

    init(_ response: Runway.Response) {
        let fields = response.head.headerFields
        head = response.head
        head.headerFields = fields.endToEnd
        // The client receives the length that the origin declared (RFC 9112 §6.3), unless the message may not declare a
        // length (RFC 9110 §8.6).
        let isFramedOtherwise = fields.contains(.transferEncoding) || head.status == .noContent
        let length = isFramedOtherwise ? nil : ContentLength.understood(fields[values: .contentLength])
        head.headerFields[.contentLength] = length.map { "\($0)" }
        // A recipient with a clock adds a missing date to a forwarded message (RFC 9110 §6.6.1).
        if head.headerFields[.date] == nil { head.headerFields[.date] = HTTPDate(Date.now).text }
        body = response.body
    }

    init(_ refusal: Refusal) {
        head = HTTPResponse(status: refusal.status, headerFields: refusal.headerFields)
        body = .whole(RawData(refusal.json))
    }
}

/// The body of a client's request while it is forwarded to the origin.
final class Upload: Sendable {
    private let incoming: HummingbirdCore.Request
    /// Guards whether the body was read to its end.
    private let hasEnded: Mutex<Bool>
    private let byteCount: Int?

    init(_ incoming: HummingbirdCore.Request) {
        self.incoming = incoming
        byteCount = incoming.headers[.contentLength].flatMap { Int($0) }
        hasEnded = Mutex((byteCount ?? 0) == 0 && incoming.headers[.transferEncoding] == nil)
    }

    /// Whether the body was read to its end.
    var isAtEnd: Bool { hasEnded.withLock { $0 } }

    /// Returns the body for the layer. A short body is buffered for retries; a longer one is streamed.
    ///
    /// - Throws: An error if the client's request is framed incorrectly.
    func body(gatheredUpTo maximumByteCount: Int) async throws -> Runway.RequestBody {
        if isAtEnd { return .none }
        if let byteCount, byteCount <= maximumByteCount {
            let bytes = Array(buffer: try await incoming.body.collect(upTo: maximumByteCount))
            hasEnded.withLock { $0 = true }
            return .bytes(bytes)
        }
        let stream = BodyStream { [self] in
            var parts = incoming.body.makeAsyncIterator()
            return { [self] in
                let part = try await parts.next(isolation: #isolation)
                if part == nil { hasEnded.withLock { $0 = true } }
                return part.map { Array(buffer: $0) }
            }
        }
        return .stream(stream, byteCount: byteCount, isReplayable: false)
    }
}

/// The error of a request whose client stopped sending before the end of the body.
struct ClientSilence: DescribedError {
    var description: String { "The client was silent for too long in the body of its request." }
}
