import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Sets up the connections of a proxy's clients. They use HTTP/1.1; ``ClientConnection`` frames the responses and
/// refuses requests.
struct ProxyChannel: HTTPChannelHandler {
    /// The maximum size of the request line, and of the name and value of a header field together.
    static let maximumFieldByteCount = 32 << 10
    /// The maximum size of the request line and all header fields together.
    static let maximumHeadByteCount = 64 << 10
    static let maximumFieldCount = 500

    let responder: HTTPChannelHandler.Responder
    /// The server of a reverse proxy; `nil` for a forward proxy.
    let origin: CallTarget?
    /// The tunnels of a forward proxy; `nil` for a reverse proxy.
    let tunnels: Tunnels?
    let address: ListeningAddress
    /// The host names that clients may use for the proxy, in addition to its address.
    let allowedHosts: [String]
    /// The maximum time for which a client may send nothing.
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

    /// Responds to a connection's requests. When the client disconnects, its requests in flight are cancelled.
    func handle(value: NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>, logger: Logger) async {
        // The task is unstructured, since the channel reports its end to a callback.
        let task = Task { await handleHTTP(asyncChannel: value, logger: logger) }
        value.channel.closeFuture.whenComplete { _ in task.cancel() }
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
