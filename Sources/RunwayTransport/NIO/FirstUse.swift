import Dispatch
import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL

/// Prepares objects that a process creates or looks up only once.
///
/// The threads of the event loops take time to start. Swift's runtime searches all conformances of the program at the
/// first cast of a type to a protocol, as happens for each channel handler. Together, this would add milliseconds to
/// the first call.
enum FirstUse {
    static func preload() { DispatchQueue.global(qos: .userInitiated).async { _ = preparation } }

    /// The results are stored, so that the compiler cannot remove the search.
    private static let preparation: [[Bool]] = {
        _ = MultiThreadedEventLoopGroup.singleton
        var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
        try? encoder.beginEncoding(allocator: ByteBufferAllocator())
        try? encoder.append(header: ":method", value: "GET")
        let handler = NIOHTTP2Handler(announcing: WireSettings(), window: 65_535, reportingTo: nil)
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
