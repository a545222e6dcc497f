import HTTPTypes
import NIOCore
import NIOTLS

/// One connection of an origin. Reads requests one after another, and responds to each.
///
/// The handler runs on its channel's event loop. Each response has its own task, so that it can wait for gates and
/// clocks. The task is cancelled when the connection ends.
final class OriginConnection: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private struct Exchange {
        var request: ReceivedRequest
        let choice: OriginScript.Choice
        var place: Int?
        var isResponding = false
        var isComplete = false
    }

    /// The number of unread bytes at which reading pauses while a response is sent.
    private static let maximumUnreadBytes = 1 << 20

    private let number: Int
    private let behaviour: ScriptedConnection
    private let isTLS: Bool
    private let script: OriginScript
    private let record: OriginRecord
    private var reader: RequestReader
    private var exchange: Exchange?
    private var responding: Task<Void, Never>?
    private var isHandshakeDone = false
    private var isGreeting = false
    private var isOver = false
    private var hasHeldRead = false

    /// The server name in the client's TLS handshake.
    var serverName: String?

    init(number: Int, behaviour: ScriptedConnection, isTLS: Bool, script: OriginScript, record: OriginRecord) {
        self.number = number
        self.behaviour = behaviour
        self.isTLS = isTLS
        self.script = script
        self.record = record
        self.reader = RequestReader(maximumHeadBytes: record.limits.headBytes)
    }

    // MARK: The channel's events

    func channelActive(context: ChannelHandlerContext) {
        switch behaviour {
        case .serve: break
        case .close:
            isOver = true
            context.triggerUserOutboundEvent(SocketEnding.closed, promise: nil)
        case .reset:
            isOver = true
            context.triggerUserOutboundEvent(SocketEnding.reset, promise: nil)
        case .ignore: isOver = true
        case .respond(let response): if !isTLS { greet(with: response, context: context) }
        }
        context.fireChannelActive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted = event as? TLSUserEvent {
            isHandshakeDone = true
            if case .respond(let response) = behaviour { greet(with: response, context: context) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        reader.append(unwrapInboundIn(data))
        advance(context: context)
    }

    func read(context: ChannelHandlerContext) {
        if isGreeting || exchange?.isResponding == true, reader.unreadByteCount > Self.maximumUnreadBytes {
            hasHeldRead = true
        } else {
            context.read()
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if isTLS, !isHandshakeDone { record.handshakeFailed("Connection \(number): \(error)") }
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        responding?.cancel()
        responding = nil
        if let exchange, !exchange.request.isComplete {
            if exchange.place == nil { _ = record.received(exchange.request) }
        } else if !isOver, exchange == nil, !reader.isBetweenRequests {
            record.received(
                MalformedRequest(reason: "The connection ended inside the head of a request.", connection: number))
        }
        isOver = true
        context.fireChannelInactive()
    }

    // MARK: Reading requests

    /// Processes all bytes that can be processed now.
    private func advance(context: ChannelHandlerContext) {
        do throws(MalformedRequest) {
            while !isOver, !isGreeting {
                if let exchange, exchange.request.isComplete {
                    guard exchange.isComplete else { return }
                    self.exchange = nil
                }
                guard let event = try reader.next() else { return }
                switch event {
                case .head(let head): began(head, context: context)
                case .body(let bytes): keep(bytes)
                case .end(let trailers): ended(trailers: trailers, context: context)
                }
            }
        } catch {
            refuse(error, context: context)
        }
    }

    private func began(_ head: RequestHead, context: ChannelHandlerContext) {
        var request = ReceivedRequest(head: head, connection: number, serverName: serverName)
        let choice = script.takeResponse(for: request)
        request.isScripted = choice.isScripted
        exchange = Exchange(request: request, choice: choice)
        switch choice.moment {
        case .afterHead:
            exchange?.place = record.received(request)
            reply(context: context)
        case .afterRequest:
            guard request.expectsContinue, reader.unreadByteCount == 0, head.framing != .none else { return }
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")), promise: nil)
        case .afterRequestWithoutContinue: break
        }
    }

    private func keep(_ bytes: ByteBuffer) {
        let count = record.reserve(bodyBytes: bytes.readableBytes)
        exchange?.request.body += bytes.readableBytesView.prefix(count)
        exchange?.request.bodyByteCount += bytes.readableBytes
    }

    private func ended(trailers: [ReceivedRequest.Field], context: ChannelHandlerContext) {
        exchange?.request.trailers = trailers
        exchange?.request.isComplete = true
        guard let exchange else { return }
        if let place = exchange.place {
            record.update(exchange.request, at: place)
        } else {
            self.exchange?.place = record.received(exchange.request)
        }
        if !exchange.isResponding { reply(context: context) }
    }

    private func refuse(_ error: MalformedRequest, context: ChannelHandlerContext) {
        isOver = true
        var malformed = error
        malformed.connection = number
        record.received(malformed)
        // A response that began before the end of its request ends the connection, so no other response can follow.
        if exchange?.isResponding == true {
            context.close(promise: nil)
            return
        }
        send(.response(.text("\(malformed.reason)\n", status: .badRequest).ending(.close)), context: context) { _, _ in
        }
    }

    // MARK: Responding

    private func greet(with response: ScriptedResponse, context: ChannelHandlerContext) {
        isGreeting = true
        send(.response(response), context: context) { connection, context in
            connection.isGreeting = false
            connection.advance(context: context)
        }
    }

    private func reply(context: ChannelHandlerContext) {
        guard let exchange else { return }
        self.exchange?.isResponding = true
        send(exchange.choice.reply, to: exchange.request, context: context) { connection, context in
            connection.exchange?.isComplete = true
            connection.advance(context: context)
        }
    }

    /// Starts the task that sends a response. `then` runs on the event loop when the connection can continue.
    private func send(
        _ reply: ScriptedReply, to request: ReceivedRequest? = nil, context: ChannelHandlerContext,
        then: @escaping @Sendable (OriginConnection, ChannelHandlerContext) -> Void
    ) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let eventLoop = context.eventLoop
        let channel = context.channel
        let request = request ?? ReceivedRequest(connection: number, serverName: serverName)
        responding = Task {
            let outcome = await OriginResponse(channel: channel).send(reply, to: request)
            eventLoop.execute {
                let (connection, context) = bound.value
                connection.completed(outcome, context: context, then: then)
            }
        }
    }

    private func completed(
        _ outcome: OriginResponse.Outcome, context: ChannelHandlerContext,
        then: (OriginConnection, ChannelHandlerContext) -> Void
    ) {
        switch outcome {
        case .next: if !isOver { then(self, context) }
        case .over: isOver = true
        }
        if hasHeldRead {
            hasHeldRead = false
            context.read()
        }
    }
}

extension ReceivedRequest {
    fileprivate init(head: RequestHead, connection: Int, serverName: String?) {
        self.init(
            method: head.method, target: head.target, version: head.version, fields: head.fields, head: head.bytes,
            connection: connection, serverName: serverName)
    }

    /// Creates a placeholder for the request of a response that is sent without a request.
    fileprivate init(connection: Int, serverName: String?) {
        self.init(
            method: .get, target: "/", version: "HTTP/1.1", fields: [], head: [], connection: connection,
            serverName: serverName)
    }
}
