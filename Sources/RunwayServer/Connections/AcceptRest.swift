import NIOCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Pauses a listening socket while the process has no file descriptors for accepted connections.
///
/// When accepting fails for this reason, SwiftNIO's `AcceptBackoffHandler` delays its own reads. But the socket stays
/// registered with the system's poll, which reports it as readable at once: the event loop spins until a descriptor is
/// free.
final class AcceptRest: ChannelInboundHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel

    private static let name = "accept-rest"
    private static let time = TimeAmount.seconds(1)

    /// Adds the handler to a listening socket, unless the socket already has it.
    static func install(on server: (any Channel)?) {
        guard let server else { return }
        server.eventLoop.execute {
            let pipeline = server.pipeline.syncOperations
            guard server.isActive, (try? pipeline.context(name: name)) == nil else { return }
            // The handler is placed before SwiftNIO's handler, which does not pass errors on.
            try? pipeline.addHandler(AcceptRest(), name: name, position: .first)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let code = (error as? IOError)?.errnoCode, [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code) {
            let channel = context.channel
            try? channel.syncOptions?.setOption(ChannelOptions.autoRead, value: false)
            channel.eventLoop.scheduleTask(in: Self.time) {
                try? channel.syncOptions?.setOption(ChannelOptions.autoRead, value: true)
            }
        }
        context.fireErrorCaught(error)
    }
}
