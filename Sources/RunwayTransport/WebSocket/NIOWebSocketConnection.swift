import NIOCore
import NIOWebSocket
import Runway
import Synchronization

/// A WebSocket on a connection of ``NIOTransport``, or on a stream of such a connection. Releasing it closes the
/// WebSocket.
final class NIOWebSocketConnection: WebSocketConnection {
    let agreement: WebSocketAgreement
    let localAddress: IPAddress?
    private let inbox: WebSocketInbox
    private let eventLoop: any EventLoop
    private let handler: NIOLoopBound<WebSocketHandler>
    private let authority: String?
    private let maximumUnsentByteCount: Int
    /// The number of bytes in messages that are not sent yet.
    private let unsentByteCount = Atomic(0)

    /// Adds the handlers of an open WebSocket to a channel, behind its existing handlers. Call on the channel's event
    /// loop.
    ///
    /// - Throws: ``WebSocketProblem``, or the channel's error.
    init(
        over channel: any Channel, _ offer: WebSocketOffer, _ outcome: WebSocketHandshake.Outcome,
        to authority: String?
    ) throws {
        agreement = outcome.agreement
        localAddress = channel.localAddress?.ipAddress.flatMap { IPAddress($0) }
        eventLoop = channel.eventLoop
        self.authority = authority
        maximumUnsentByteCount = offer.maximumUnsentByteCount
        inbox = WebSocketInbox(maximumUnreadByteCount: offer.maximumUnreadByteCount)
        let handler = try WebSocketHandler(offer, outcome.deflate, to: authority, inbox: inbox)
        self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        // A control frame has up to 125 bytes, and data that cannot be compressed grow a little.
        let limit = max(125, offer.maximumMessageByteCount)
        let maximumFrameByteCount = min(limit + limit >> 10 + 64, Int(clamping: UInt32.max))
        let operations = channel.pipeline.syncOperations
        try operations.addHandlers(
            WebSocketByteMeter(inbox),
            ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: maximumFrameByteCount)), WebSocketFrameEncoder(),
            handler)
    }

    deinit {
        let handler = handler
        // The handlers retain themselves until the connection has ended, so the close runs even after this object is
        // released.
        eventLoop.execute { handler.value.close(WebSocketClose(1001)) }
    }

    var status: WebSocketStatus { inbox.status }

    func next() async throws(NetworkError) -> WebSocketPayload? {
        try await inbox.next {
            eventLoop.execute { [handler] in handler.value.resumeReading() }
        }
    }

    func send(_ payload: WebSocketPayload) async throws(NetworkError) {
        let byteCount = payload.byteCount
        let (_, unsent) = unsentByteCount.add(byteCount, ordering: .relaxed)
        // A message is accepted regardless of its size if no other message is unsent.
        guard unsent == byteCount || unsent <= maximumUnsentByteCount else {
            unsentByteCount.subtract(byteCount, ordering: .relaxed)
            throw NetworkError(
                transport: WebSocketProblem.tooMuchUnsent(limit: maximumUnsentByteCount), from: authority)
        }
        let written = eventLoop.makePromise(of: Void.self)
        let left = eventLoop.makePromise(of: Void.self)
        written.futureResult.whenComplete { [weak self] result in
            self?.unsentByteCount.subtract(byteCount, ordering: .relaxed)
            left.completeWith(result)
        }
        eventLoop.execute { [handler] in handler.value.send(payload, promise: written) }
        do {
            // A message cannot be withdrawn, since parts of it may have been sent. Cancellation only ends the wait.
            try await withTaskCancellationHandler {
                try await left.futureResult.get()
            } onCancel: {
                left.fail(CancellationError())
            }
        } catch {
            throw NetworkError(transport: error, from: authority)
        }
    }

    func ping() { eventLoop.execute { [handler] in handler.value.ping() } }

    func close(_ close: WebSocketClose) { eventLoop.execute { [handler] in handler.value.close(close) } }

    func abandon(_ error: NetworkError) { cut(error) }
}

extension NIOWebSocketConnection: UpgradedConnection {
    func cut(_ error: any Error) { eventLoop.execute { [handler] in handler.value.abandon(error) } }

    func checkLiveness(within limit: Duration) {
        eventLoop.execute { [handler] in handler.value.checkLiveness(within: limit) }
    }

    func leave() { close(WebSocketClose(1001)) }
}
