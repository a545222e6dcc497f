import Dispatch
import NIOCore
import NIOHPACK
import NIOPosix
import NIOSSL

/// What a process makes or looks up once, when it is met first.
///
/// The threads of the event loops take their time to start, and Swift's runtime looks through every conformance of the program when a
/// type is first asked for one, as each handler of a channel is. Together that is milliseconds of a program's first call.
enum FirstUse {
    /// Begins with it on another thread, while the caller goes on. Only what is needed before it is done is waited for.
    static func anticipate() { DispatchQueue.global(qos: .userInitiated).async { _ = preparation } }

    /// What was found is kept, so that the compiler may not leave the search out.
    private static let preparation: [[Bool]] = {
        _ = MultiThreadedEventLoopGroup.singleton
        var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
        try? encoder.beginEncoding(allocator: ByteBufferAllocator())
        try? encoder.append(header: ":method", value: "GET")
        let handler = HTTP2Connection.protocolHandler(WireSettings(), window: 65_535)
        let handlers: [any ChannelHandler.Type] = [
            NIOSSLClientHandler.self, HandoverHandler.self, HTTP2FrameMeter.self, type(of: handler),
            HTTP2Connection.self,
        ]
        return handlers.map {
            [
                $0 is any _ChannelInboundHandler.Type, $0 is any _ChannelOutboundHandler.Type,
                $0 is any RemovableChannelHandler.Type,
            ]
        }
    }()
}
