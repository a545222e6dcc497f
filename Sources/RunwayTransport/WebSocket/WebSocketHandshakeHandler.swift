import HTTPTypes
import NIOCore
import Runway

/// Sends the handshake request over a new connection, and reads the response.
///
/// If the response opens a WebSocket, bytes after it are passed on when the handler is removed.
final class WebSocketHandshakeHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// A complete response.
    enum Outcome {
        case opened(HTTPResponse, WebSocketHandshake.Outcome)
        case refused(RefusedHandshake)
    }

    private let handshake: WebSocketHandshake
    private let head: WireRequestHead
    private let maximumInformationalResponses: Int
    private var reader: HTTP1ResponseReader
    private var isStarted = false
    private var informationalCount = 0
    private var refusal: RefusedHandshake?
    private var failure: (any Error)?
    /// Called once, with the response or the error; then set to `nil`.
    private var onEnd: ((Result<Outcome, any Error>) -> Void)?

    init(
        _ handshake: WebSocketHandshake, _ head: WireRequestHead, _ settings: WireSettings,
        onEnd: @escaping (Result<Outcome, any Error>) -> Void
    ) {
        self.handshake = handshake
        self.head = head
        self.onEnd = onEnd
        maximumInformationalResponses = settings.maximumInformationalResponses
        reader = HTTP1ResponseReader(
            maximumHeadByteCount: settings.maximumHeadByteCount, maximumFieldCount: settings.maximumFieldCount)
    }

    /// Sends the request. The channel must be active and have this handler.
    func start(on channel: any Channel) {
        // Bytes that the server has already sent may have ended the handshake.
        if onEnd == nil { return }
        isStarted = true
        reader.expectResponse(to: .get, mayUpgrade: true)
        var buffer = channel.allocator.buffer(capacity: 512)
        buffer.writeHTTP1(head, expectsContinue: false)
        channel.writeAndFlush(buffer, promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        // After the handshake, bytes are stored in the reader until this handler is removed.
        guard onEnd != nil else { return reader.feed(bytes) }
        guard isStarted else { return end(.failure(WireError.unsolicited)) }
        reader.feed(bytes)
        do {
            while onEnd != nil, let event = try reader.next() { try handle(event) }
        } catch {
            end(.failure(error))
        }
    }

    private func handle(_ event: HTTP1ResponseReader.Event) throws {
        switch event {
        case .informational:
            informationalCount += 1
            guard informationalCount <= maximumInformationalResponses else {
                throw WireError.malformed("there are too many responses of status 1xx")
            }
        case .head(let head, _, _) where head.status == .switchingProtocols:
            end(.success(.opened(head, try handshake.outcome(of: head))))
        case .head(let head, _, _): refusal = RefusedHandshake(head: head)
        case .body(let part): if refusal?.append(part) == false { endRefused() }
        case .end: endRefused()
        }
    }

    private func endRefused() {
        if let refusal { end(.success(.refused(refusal))) }
    }

    private func end(_ result: Result<Outcome, any Error>) {
        let call = onEnd.take()
        call?(result)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        failure = failure ?? error
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if onEnd != nil {
            do {
                if try reader.finish() != nil { endRefused() }
                end(.failure(failure ?? WireError.closed))
            } catch {
                end(.failure(failure ?? error))
            }
        }
        context.fireChannelInactive()
    }

    func removeHandler(context: ChannelHandlerContext, removalToken: ChannelHandlerContext.RemovalToken) {
        let rest = reader.takeRest()
        if rest.readableBytes > 0 {
            context.fireChannelRead(wrapInboundOut(rest))
            context.fireChannelReadComplete()
        }
        context.leavePipeline(removalToken: removalToken)
    }
}

/// A response that does not open a WebSocket, with the start of its body.
struct RefusedHandshake {
    /// The maximum number of body bytes that are read, which suffices for the JSON of a service's error.
    private static let maximumBodyByteCount = 64 << 10

    let head: HTTPResponse
    private(set) var body: [UInt8] = []

    init(head: HTTPResponse) { self.head = head }

    /// Appends a part of the body. Returns `false` if no more is to be read.
    mutating func append(_ part: ByteBuffer) -> Bool {
        body += part.readableBytesView.prefix(Self.maximumBodyByteCount - body.count)
        return body.count < Self.maximumBodyByteCount
    }
}
