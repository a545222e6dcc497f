import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1

/// Handles one client's HTTP/1.1 connection (RFC 9112). Decides which requests are forwarded, how responses are framed,
/// and when the connection ends.
///
/// The handler is between the parser and the forwarder. It responds itself to requests that are not forwarded, after
/// the responses to earlier requests.
final class ClientConnection: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// The time within which the client has to disconnect after the last response of the connection.
    static let lingering = TimeAmount.seconds(2)

    /// A request whose response has not been sent yet.
    private struct Exchange {
        let isHead: Bool
        let isHTTP11: Bool
        /// Whether the connection stays open after the response.
        var staysOpen: Bool
        var isReceived = false
    }

    private let screening: RequestScreening
    private let peek: RequestLinePeek
    /// The pending requests, oldest first.
    private var exchanges: CircularBuffer<Exchange> = []
    private var ignoresInput = false
    /// The proxy's own response, sent after the responses to earlier requests.
    private var refusal: Refusal?
    private var isClosing = false
    /// Whether a read is in progress.
    private var isReading = false
    private var cut: Scheduled<Void>?
    /// The maximum time for the head of the next request, counted from the end of the previous exchange.
    private let headTimeout: TimeAmount
    /// Closes the connection when ``headTimeout`` has passed.
    private var headTimer: Scheduled<Void>?

    init(screening: RequestScreening, peek: RequestLinePeek, headTimeout: TimeAmount) {
        self.screening = screening
        self.peek = peek
        self.headTimeout = headTimeout
    }

    func handlerAdded(context: ChannelHandlerContext) { awaitHead(context) }

    func handlerRemoved(context: ChannelHandlerContext) { headTimer?.cancel() }

    /// Closes the connection if no complete head arrives in time. An idle timeout is not enough, since a client could
    /// send one byte at a time.
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
                        // A proxy may not have a persistent connection with an HTTP/1.0 client (RFC 9112 §C.2.2). After
                        // an upgrade request the parser would wait for another protocol.
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
            // Trailers are not forwarded.
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
        // No other code reads now. Without a read, the client's disconnect would not be noticed.
        if isClosing { context.read() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError else { return context.fireErrorCaught(error) }
        if ignoresInput { return }
        if let last = exchanges.last, !last.isReceived {
            // The reader of the request body receives this error, and sends the response to the client.
            ignoresInput = true
            exchanges[exchanges.index(before: exchanges.endIndex)].staysOpen = false
            context.fireErrorCaught(error)
        } else {
            refuse(Refusal(error, unknownMethod: peek.unknownMethod), context)
        }
    }

    /// Ends a connection that is idle because of the client. A slow origin does not end it.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is TunnelRequested { headTimer?.cancel() }
        guard event is IdleStateHandler.IdleStateEvent else { return context.fireUserInboundEventTriggered(event) }
        if isClosing { return }
        let owesBody = exchanges.last?.isReceived == false && isReading
        if owesBody, !ignoresInput, context.channel.isWritable {
            // The reader of the request body receives this error, and sends the response to the client.
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

    /// Sets how the body is framed, and whether the connection closes (RFC 9112 §6, §9.6).
    private func frame(_ head: inout HTTPResponseHead, for exchange: Exchange) {
        let hasBody = !exchange.isHead && head.status.mayHaveResponseBody
        head.headers.remove(name: "transfer-encoding")
        if hasBody, exchange.isHTTP11, !head.headers.contains(name: "content-length") {
            head.headers.add(name: "Transfer-Encoding", value: "chunked")
        }
        // If the body has not arrived in full, its remaining bytes can't be distinguished from the next request.
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

    /// Closes the sending half, and the whole connection a little later. Closing while requests are unread would reset
    /// the connection, and the client could lose the end of its response (RFC 9112 §9.6).
    private func close(_ context: ChannelHandlerContext) {
        ignoresInput = true
        isClosing = true
        context.close(mode: .output, promise: nil)
        context.read()
        cut = context.eventLoop.assumeIsolated().scheduleTask(in: Self.lingering) { context.close(promise: nil) }
    }
}
