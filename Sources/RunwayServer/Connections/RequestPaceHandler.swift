import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Closes the connection of a request whose body arrives too slowly, or only its stream in HTTP/2.
///
/// Only the time in which the server reads counts, so a handler that reads slowly does not cause a close.
final class RequestPaceHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let limits: BodyTimeLimits
    /// The time by which more bytes must arrive; `nil` while no body is expected.
    private var deadline: BodyDeadline?
    private var timer: Scheduled<Void>?
    private var isFirst = true
    /// Counts the streams of the connection in HTTP/2; `nil` in HTTP/1.1.
    private var connection: RequestTimer?

    init(_ limits: BodyTimeLimits) { self.limits = limits }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            if isFirst { connection = RequestTimer.begin(for: context.channel) }
            isFirst = false
            deadline = BodyDeadline(limits, at: Self.now(context))
        case .body(let part): deadline?.receive(part.readableBytes, at: Self.now(context))
        case .end: end()
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if deadline != nil, timer == nil { check(context) }
        deadline?.pause(at: Self.now(context))
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        deadline?.resume(at: Self.now(context))
        context.read()
    }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { leave() }

    private func leave() {
        end()
        connection?.endStream()
        connection = nil
    }

    private func end() {
        deadline = nil
        timer?.cancel()
        timer = nil
    }

    private func check(_ context: ChannelHandlerContext) {
        timer = nil
        guard let deadline else { return }
        guard let next = deadline.nextCheck(at: Self.now(context)) else { return context.close(promise: nil) }
        let loopBound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(in: TimeAmount(next - Self.now(context))) {
            let (handler, context) = loopBound.value
            handler.check(context)
        }
    }

    private static func now(_ context: ChannelHandlerContext) -> Duration {
        .nanoseconds(Int64(clamping: context.eventLoop.now.uptimeNanoseconds))
    }
}
