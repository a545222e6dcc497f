import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1

/// One client's connection by HTTP/1.1 (RFC 9112): decides which requests are forwarded, how responses are framed, and
/// when it ends.
///
/// The handler is between the parser and the forwarder. It refuses requests that are not forwarded, after the responses
/// to earlier requests.
final class ClientConnection: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// The time within which the client has to disconnect after the response that announces the end of the connection.
    static let lingering = TimeAmount.seconds(2)

    /// A request without a response yet.
    private struct Exchange {
        let isHead: Bool
        let isHTTP11: Bool
        /// Whether another request may follow the response.
        var staysOpen: Bool
        /// Whether the whole request has arrived.
        var isReceived = false
    }

    private let screening: RequestScreening
    private let peek: RequestLinePeek
    /// The oldest first.
    private var exchanges: CircularBuffer<Exchange> = []
    /// Whether further input is discarded.
    private var ignoresInput = false
    /// The response to send after those to the client's other requests.
    private var refusal: Refusal?
    private var isClosing = false
    /// Whether a read was requested that has not completed.
    private var isReading = false
    private var cut: Scheduled<Void>?
    /// The longest wait for the head of the next request, from the end of the previous exchange.
    private let headTimeout: TimeAmount
    /// Closes the connection when the time for a head is over.
    private var headTimer: Scheduled<Void>?

    init(screening: RequestScreening, peek: RequestLinePeek, headTimeout: TimeAmount) {
        self.screening = screening
        self.peek = peek
        self.headTimeout = headTimeout
    }

    func handlerAdded(context: ChannelHandlerContext) { awaitHead(context) }

    func handlerRemoved(context: ChannelHandlerContext) { headTimer?.cancel() }

    /// Closes the connection if no whole head arrives in time: bytes that arrive one by one would never let it be idle.
    private func awaitHead(_ context: ChannelHandlerContext) {
        headTimer?.cancel()
        headTimer = context.eventLoop.assumeIsolated().scheduleTask(in: headTimeout) { context.close(promise: nil) }
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if ignoresInput { return }
        switch Self.unwrapInboundIn(data) {
        case .head(let head):
            headTimer?.cancel()
            let isUpgrade = head.headers.contains(name: "upgrade")
            do throws(Refusal) {
                let screened = try screening.screened(head)
                exchanges.append(
                    Exchange(
                        isHead: head.method == .HEAD, isHTTP11: head.isHTTP11,
                        // A proxy has no persistent connection with a client of HTTP/1.0 (RFC 9112 §C.2.2). After a request to
                        // upgrade the parser waits for another protocol.
                        staysOpen: head.isKeepAlive && head.isHTTP11 && !isUpgrade))
                context.fireChannelRead(Self.wrapInboundOut(.head(screened)))
            } catch {
                refuse(error, context)
            }
        case .body:
            context.fireChannelRead(data)
        case .end:
            exchanges[exchanges.index(before: exchanges.endIndex)].isReceived = true
            ignoresInput = exchanges.last?.staysOpen == false
            // Trailers go no further.
            context.fireChannelRead(Self.wrapInboundOut(.end(nil)))
        }
    }

    func read(context: ChannelHandlerContext) {
        isReading = true
        context.read()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        context.fireChannelReadComplete()
        // Nothing else reads now, and without reading the client's disconnect would go unnoticed.
        if isClosing { context.read() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError else { return context.fireErrorCaught(error) }
        if ignoresInput { return }
        if let last = exchanges.last, !last.isReceived {
            // The reader of the body receives the error, and responds.
            ignoresInput = true
            exchanges[exchanges.index(before: exchanges.endIndex)].staysOpen = false
            context.fireErrorCaught(error)
        } else {
            refuse(Refusal(error, unknownMethod: peek.unknownMethod), context)
        }
    }

    /// Ends a connection that makes no progress because of the client, and not because of the origin.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is TunnelRequested { headTimer?.cancel() }
        guard event is IdleStateHandler.IdleStateEvent else { return context.fireUserInboundEventTriggered(event) }
        if isClosing { return }
        let owesBody = exchanges.last?.isReceived == false && isReading
        if owesBody, !ignoresInput, context.channel.isWritable {
            // The reader of the body receives the error, and responds.
            ignoresInput = true
            exchanges[exchanges.index(before: exchanges.endIndex)].staysOpen = false
            context.fireErrorCaught(ClientSilence())
        } else if owesBody || exchanges.isEmpty || !context.channel.isWritable {
            context.close(promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        cut?.cancel()
        context.fireChannelInactive()
    }

    // MARK: Responses

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isClosing, let exchange = exchanges.first else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch Self.unwrapOutboundIn(data) {
        case .head(var head):
            if (200...).contains(head.status.code) { frame(&head, for: exchange) }
            context.write(Self.wrapOutboundOut(.head(head)), promise: promise)
        case .body:
            context.write(data, promise: promise)
        case .end:
            context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: promise)
            exchanges.removeFirst()
            if !exchange.staysOpen {
                close(context)
            } else if exchanges.isEmpty {
                if let refusal { write(refusal, context) } else { awaitHead(context) }
            }
        }
    }

    /// Sets how the body ends, and whether the connection does (RFC 9112 §6, §9.6).
    private func frame(_ head: inout HTTPResponseHead, for exchange: Exchange) {
        let hasBody = !exchange.isHead && head.status.mayHaveResponseBody
        head.headers.remove(name: "transfer-encoding")
        if hasBody, exchange.isHTTP11, !head.headers.contains(name: "content-length") {
            head.headers.add(name: "Transfer-Encoding", value: "chunked")
        }
        // Bytes that the client has not sent yet can't be distinguished from its next request.
        if !head.isKeepAlive || !exchange.isReceived { exchanges[exchanges.startIndex].staysOpen = false }
        if exchanges.first?.staysOpen == false {
            ignoresInput = ignoresInput || exchange.isReceived
            head.headers.replaceOrAdd(name: "Connection", value: "close")
        }
    }

    private func refuse(_ refusal: Refusal, _ context: ChannelHandlerContext) {
        ignoresInput = true
        self.refusal = refusal
        if exchanges.isEmpty { write(refusal, context) }
    }

    private func write(_ refusal: Refusal, _ context: ChannelHandlerContext) {
        let body = ByteBuffer(bytes: refusal.json)
        var fields = refusal.headerFields
        fields[.contentLength] = "\(body.readableBytes)"
        fields[.connection] = "close"
        let head = HTTPResponseHead(HTTPResponse(status: refusal.status, headerFields: fields))
        context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
        context.write(Self.wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
        close(context)
    }

    /// Ends the responses, and a little later the connection: a close with requests unread would reset it, and the
    /// client would lose the part of its response that it has not read yet (RFC 9112 §9.6).
    private func close(_ context: ChannelHandlerContext) {
        ignoresInput = true
        isClosing = true
        context.close(mode: .output, promise: nil)
        context.read()
        cut = context.eventLoop.assumeIsolated().scheduleTask(in: Self.lingering) { context.close(promise: nil) }
    }
}
