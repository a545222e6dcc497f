import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Sets up the connections of a proxy's clients: HTTP/1.1, framed and refused by ``ClientConnection``.
struct ProxyChannel: HTTPChannelHandler {
    /// The largest request line and the largest header field, name and value counted.
    static let maximumFieldByteCount = 32 << 10
    /// The most bytes of request line and header fields together.
    static let maximumHeadByteCount = 64 << 10
    /// The most header fields of a request.
    static let maximumFieldCount = 500

    let responder: HTTPChannelHandler.Responder
    /// The one server; `nil` for a forward proxy.
    let origin: CallTarget?
    /// The tunnels of a forward proxy; `nil` for a proxy to one server.
    let tunnels: Tunnels?
    let address: ListeningAddress
    /// The hosts besides its own under which the proxy may be called.
    let allowedHosts: [String]
    /// The longest silence of a client.
    let clientTimeout: TimeAmount

    func setup(
        channel: any Channel, logger: Logger
    ) -> EventLoopFuture<NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>> {
        channel.eventLoop.makeCompletedFuture {
            var limits = NIOHTTPDecoderLimitConfiguration()
            limits.maxHeaderFieldSize = Self.maximumFieldByteCount
            limits.maxHeaderListSize = Self.maximumHeadByteCount
            limits.maxHeaderFieldCount = Self.maximumFieldCount
            var encoding = HTTPResponseEncoder.Configuration()
            encoding.automaticallySetFramingHeaders = false
            let pipeline = channel.pipeline.syncOperations
            let peek = RequestLinePeek()
            try pipeline.addHandler(IdleStateHandler(allTimeout: clientTimeout))
            if let tunnels { try pipeline.addHandler(TunnelGate(tunnels)) }
            try pipeline.addHandler(peek)
            try pipeline.configureHTTPServerPipeline(
                withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false,
                withEncoderConfiguration: encoding, withDecoderLimitConfiguration: limits)
            let screening = RequestScreening(
                origin: origin, address: address, allowedHosts: allowedHosts,
                localAddress: channel.localAddress?.ipAddress, port: channel.localAddress?.port ?? address.port)
            try pipeline.addHandler(ClientConnection(screening: screening, peek: peek, headTimeout: clientTimeout))
            try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
            return try NIOAsyncChannel(
                wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
        }
    }

    /// Responds to a connection's requests; when the client disconnects, requests in flight are cancelled.
    func handle(value: NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>, logger: Logger) async {
        // The task is unstructured because a closed channel calls a callback, and not a task.
        let task = Task { await handleHTTP(asyncChannel: value, logger: logger) }
        value.channel.closeFuture.whenComplete { _ in task.cancel() }
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
