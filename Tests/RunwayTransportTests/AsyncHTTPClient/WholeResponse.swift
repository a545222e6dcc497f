import AsyncHTTPClient
import HTTPTypes
import NIOCore
import NIOHTTP1
import Synchronization

@testable import Runway
@testable import RunwayTransport

/// Gathers one whole response on the client's event loop.
///
/// The task that waits for it is woken once, at the end. The client's own `async` functions wake it for the head and for every
/// part, and start a task and a timer of their own for every request, which together costs more than the whole layer.
final class WholeResponse: HTTPClientResponseDelegate {
    typealias Response = (head: ResponseHead, bytes: [UInt8])

    private struct State {
        var head: ResponseHead?
        var body: WholeBody?
    }

    private let method: HTTPRequest.Method
    private let maximumByteCount: Int
    private let isTransparent: Bool
    private let decodingLimits: ContentDecoder.Limits
    private let onHead: @Sendable (HTTPResponseHead) -> Void
    /// Guards what has come so far.
    private let state = Mutex(State())

    init(
        to method: HTTPRequest.Method, upTo maximumByteCount: Int, isTransparent: Bool,
        _ decodingLimits: ContentDecoder.Limits,
        onHead: @escaping @Sendable (HTTPResponseHead) -> Void
    ) {
        self.onHead = onHead
        self.method = method
        self.isTransparent = isTransparent
        self.decodingLimits = decodingLimits
        self.maximumByteCount = maximumByteCount
    }

    /// Sends the request and waits for the response, until the deadline of the flight.
    ///
    /// - Throws: ``BodyTooLarge``, ``ContentDecoder/Failure``, or what the client throws.
    func receive(
        _ request: HTTPClient.Request, over client: HTTPClient, on eventLoop: any EventLoop, in flight: Flight
    ) async throws -> Response {
        let task = client.execute(request: request, delegate: self, eventLoop: .delegate(on: eventLoop))
        return try await flight.withDeadlineHandler {
            try await withTaskCancellationHandler {
                try await task.get()
            } onCancel: {
                task.cancel()
            }
        } onDeadline: {
            task.fail(reason: HTTPClientError.deadlineExceeded)
        }
    }

    func didReceiveHead(task: HTTPClient.Task<Response>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        onHead(head)
        return task.eventLoop.makeCompletedFuture {
            try state.withLock { state in
                let head = ResponseHead(head.status, head.headers, responding: method, isTransparent: isTransparent)
                state = State(head: head, body: try head.body(upTo: maximumByteCount, decodingLimits))
            }
        }
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Response>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        task.eventLoop.makeCompletedFuture { try state.withLock { try $0.body?.append(buffer) } }
    }

    func didFinishRequest(task: HTTPClient.Task<Response>) throws -> Response {
        try state.withLock { state in
            guard let head = state.head, let body = state.body else { throw HTTPClientError.remoteConnectionClosed }
            try body.finish()
            return (head, body.bytes)
        }
    }
}
