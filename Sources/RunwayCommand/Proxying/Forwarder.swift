import Foundation
import HTTPTypes
import HummingbirdCore
import NIOCore
import Runway

/// Passes requests to the origin and answers to the client.
struct Forwarder: Sendable {
    /// From this length on the body of a request is passed as it comes; a shorter one is gathered, so that it can be sent again.
    static let maximumGatheredByteCount = 1 << 20

    let session: ProxySession
    let address: ListeningAddress

    /// Answers one request of a client.
    @concurrent func respond(
        to incoming: HummingbirdCore.Request, _ writer: consuming ResponseWriter, _ channel: any Channel
    ) async throws {
        let port = channel.localAddress?.port ?? address.port
        let answer: Answer
        switch target(of: incoming.head, port: port) {
        case .failure(let refusal):
            answer = Answer(refusal)
        case .success(let path):
            if incoming.headers[values: .expect].contains(where: { $0.lowercased() == "100-continue" }) {
                try await writer.writeInformationalHead(HTTPResponse(status: .continue))
            }
            let head = self.head(of: incoming.head, path: path, port: port)
            answer = await withClosing(of: channel) { await send(head, incoming) }
        }
        try await write(answer, to: incoming.method, writer, channel)
    }

    // MARK: The request

    /// The path that a request asks the origin for, or why it can't be passed on.
    private func target(of head: HTTPRequest, port: Int) -> Result<String, Refusal> {
        guard head.method != .connect else {
            return .failure(Refusal(.notImplemented, "CONNECT asks for a tunnel, which this proxy does not make."))
        }
        var path = head.path ?? "/"
        var authority = head.authority
        // Absolute-form (RFC 9112 §3.2.2): the host in it counts, and not the Host field.
        if let mark = path.firstRange(of: "://"), !path.hasPrefix("/") {
            let rest = path[mark.upperBound...]
            authority = String(rest.prefix { $0 != "/" && $0 != "?" })
            path = String(rest.dropFirst(authority?.count ?? 0))
            if !path.hasPrefix("/") { path = "/" + path }
        }
        guard path.hasPrefix("/") else {
            return .failure(
                Refusal(.notImplemented, "The target \"\(path)\" is of a form that this proxy does not pass on."))
        }
        guard isOwn(authority) else {
            return .failure(
                Refusal(
                    HTTPResponse.Status(code: 421, reasonPhrase: "Misdirected Request"),
                    "This proxy is for \(session.origin.authority) alone, and not for \(authority ?? "no host")."))
        }
        let via = head.headerFields[values: .via].joined(separator: ",")
        guard !via.contains(pseudonym(port)) else {
            return .failure(
                Refusal(
                    HTTPResponse.Status(code: 508, reasonPhrase: "Loop Detected"),
                    "The request came through this proxy before."))
        }
        return .success(path)
    }

    /// Whether a request is for this proxy or its origin, by whatever port.
    private func isOwn(_ authority: String?) -> Bool {
        guard !address.isLoopback || authority != nil, let authority else { return !address.isLoopback }
        let bare = authority.prefix { $0 != ":" }
        let host = authority.hasPrefix("[") ? String(authority.prefix { $0 != "]" }.dropFirst()) : String(bare)
        let own = ["localhost", "::1", address.host, session.origin.host]
        return own.contains(host.lowercased()) || host.hasPrefix("127.") || !address.isLoopback
    }

    /// The request as the origin gets it.
    private func head(of head: HTTPRequest, path: String, port: Int) -> HTTPRequest {
        var fields = head.headerFields.endToEnd
        fields[.contentLength] = nil
        fields[.expect] = nil
        // "An HTTP-to-HTTP gateway MUST send an appropriate Via header field in each inbound request message" (RFC 9110 §7.6.3).
        fields.append(HTTPField(name: .via, value: "1.1 \(pseudonym(port))"))
        return HTTPRequest(
            method: head.method, scheme: session.origin.scheme, authority: session.origin.authority, path: path,
            headerFields: fields)
    }

    private func pseudonym(_ port: Int) -> String { "runway-proxy-\(port)" }

    private func send(_ head: HTTPRequest, _ incoming: HummingbirdCore.Request) async -> Answer {
        do {
            return Answer(try await session.send(head, try await body(of: incoming)))
        } catch let refusal as Refusal {
            return Answer(refusal)
        } catch let error as NetworkError {
            return Answer(Refusal(error))
        } catch {
            return Answer(Refusal(.badRequest, "The body of the request can't be read: \(error)."))
        }
    }

    private func body(of incoming: HummingbirdCore.Request) async throws -> Runway.RequestBody {
        let length = incoming.headers[.contentLength].flatMap { Int($0) }
        if length ?? 0 == 0, incoming.headers[.transferEncoding] == nil { return .none }
        if let length, length <= Self.maximumGatheredByteCount {
            return .bytes(Array(buffer: try await incoming.body.collect(upTo: Self.maximumGatheredByteCount)))
        }
        let body = incoming.body
        let stream = BodyStream {
            var parts = body.makeAsyncIterator()
            return { try await parts.next(isolation: #isolation).map { Array(buffer: $0) } }
        }
        return .stream(stream, byteCount: length, isReplayable: false)
    }

    // MARK: The answer

    @concurrent private func write(
        _ answer: Answer, to method: HTTPRequest.Method, _ writer: consuming ResponseWriter, _ channel: any Channel
    ) async throws {
        var head = answer.head
        let hasBody = method != .head && head.status.code >= 200 && ![204, 304].contains(head.status.code)
        if case .whole(let rawData) = answer.body, hasBody {
            head.headerFields[.contentLength] = "\(rawData.bytes.count)"
        }
        if method == .head, head.headerFields[.contentLength] == nil {
            // Without a length the server's encoder ends the answer with an empty chunk, which no next answer may follow.
            head.headerFields[.connection] = "close"
        }
        guard hasBody else {
            try await writer.writeResponse(head)
            // It is empty, and read to its end so that its record says that it is whole.
            if case .stream(let parts) = answer.body { for try await _ in parts {} }
            return
        }
        var bodyWriter = try await writer.writeHead(head)
        switch answer.body {
        case .whole(let rawData):
            if !rawData.bytes.isEmpty { try await bodyWriter.write(ByteBuffer(bytes: rawData.bytes)) }
        case .stream(let parts):
            do {
                for try await part in parts { try await bodyWriter.write(ByteBuffer(bytes: part)) }
            } catch {
                // Too late for a status. Only a cut connection tells the client that the body is not whole.
                channel.close(promise: nil)
                throw error
            }
        }
        try await bodyWriter.finish(nil)
    }

    /// Runs `work`, and cancels it when the client hangs up.
    private func withClosing<Value: Sendable>(
        of channel: any Channel, _ work: @escaping @Sendable () async -> Value
    ) async -> Value {
        // The task is unstructured because a closed channel tells a callback, not a task.
        let task = Task { await work() }
        channel.closeFuture.whenComplete { _ in task.cancel() }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }
}

/// What a client gets.
private struct Answer: Sendable {
    var head: HTTPResponse
    var body: Runway.ResponseBody

    init(_ response: Runway.Response) {
        head = response.head
        head.headerFields = response.head.headerFields.endToEnd
        body = response.body
    }

    init(_ refusal: Refusal) {
        head = HTTPResponse(
            status: refusal.status, headerFields: [.contentType: "application/json", .cacheControl: "no-store"])
        body = .whole(RawData(refusal.json))
    }
}
