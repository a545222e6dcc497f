import NIOCore
import NIOHTTP2

/// Counts the bytes of every stream's frames, frame headers included, as they pass below NIO's handler, which does not tell.
final class HTTP2FrameMeter: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private var inbound = FrameLengths(skipping: 0)
    /// The preface of a client is no frame (RFC 9113 §3.4).
    private var outbound = FrameLengths(skipping: 24)
    /// Whose streams they are.
    weak var connection: HTTP2Connection?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        inbound.read(bytes) { stream, byteCount in
            connection?.streams[HTTP2StreamID(stream)]?.exchange.received(byteCount: byteCount)
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .byteBuffer(let bytes) = unwrapOutboundIn(data) {
            outbound.read(bytes) { stream, byteCount in
                connection?.streams[HTTP2StreamID(stream)]?.exchange.sent(byteCount: byteCount)
            }
        }
        context.write(data, promise: promise)
    }
}

/// Finds the frames in bytes that come in pieces (RFC 9113 §4.1).
struct FrameLengths {
    private static let headerByteCount = 9

    /// How many bytes come before the next frame's header.
    private var skip: Int
    /// The part of a frame's header that came, where it came in part.
    private var header: [UInt8] = []

    init(skipping byteCount: Int) { skip = byteCount }

    /// Reads on, and calls `found` for every frame whose header is complete with the number of its stream and its length, header
    /// included. Frames of no stream are passed over.
    mutating func read(_ bytes: ByteBuffer, found: (Int, Int) -> Void) {
        var index = bytes.readerIndex
        while index < bytes.writerIndex {
            let skipped = min(skip, bytes.writerIndex - index)
            skip -= skipped
            index += skipped
            guard skip == 0, index < bytes.writerIndex else { return }
            let wanted = min(Self.headerByteCount - header.count, bytes.writerIndex - index)
            guard let part = bytes.getBytes(at: index, length: wanted) else { return }
            header += part
            index += wanted
            guard header.count == Self.headerByteCount else { return }
            skip = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
            let stream = header[5...].reduce(0) { $0 << 8 | Int($1) } & 0x7FFF_FFFF
            header.removeAll(keepingCapacity: true)
            if stream > 0 { found(stream, skip + Self.headerByteCount) }
        }
    }
}
