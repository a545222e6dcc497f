import NIOCore
import NIOHTTP2

/// Counts the bytes of each stream's frames, including frame headers. It is placed below NIO's handler, because that
/// handler does not report the counts.
///
/// It also clears stream dependencies in the server's PRIORITY and HEADERS frames. RFC 9113 §5.3.2 requires ignoring
/// them, but NIO's handler closes the connection if a stream depends on itself, as RFC 7540 §5.3.1 required.
final class HTTP2FrameMeter: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private var inbound = FrameLengths(skipping: 0)
    /// The client's preface is not a frame (RFC 9113 §3.4).
    private var outbound = FrameLengths(skipping: 24)
    private let streams: HTTP2Streams

    init(_ streams: HTTP2Streams) { self.streams = streams }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        let dependencies = inbound.read(bytes) { stream, byteCount in
            streams[HTTP2StreamID(stream)]?.exchange.received(byteCount: byteCount)
        }
        for range in dependencies { bytes.setRepeatingByte(0, count: range.count, at: range.lowerBound) }
        context.fireChannelRead(wrapInboundOut(bytes))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .byteBuffer(let bytes) = unwrapOutboundIn(data) {
            _ = outbound.read(bytes) { stream, byteCount in
                streams[HTTP2StreamID(stream)]?.exchange.sent(byteCount: byteCount)
            }
        }
        context.write(data, promise: promise)
    }
}

/// Finds frames in bytes that arrive in parts (RFC 9113 §4.1).
struct FrameLengths {
    private static let headerByteCount = 9

    /// The number of bytes before the next frame header.
    private var skip: Int
    /// The position of a stream dependency in the skipped bytes, counted from their end; empty if these bytes contain
    /// no stream dependency.
    private var dependency = 0..<0
    /// The received part of an incomplete frame header.
    private var header: [UInt8] = []

    init(skipping byteCount: Int) { skip = byteCount }

    /// Reads bytes, and calls `found` with the stream number and the length of every frame whose header is complete.
    /// The length includes the header. Frames of the connection itself are ignored.
    ///
    /// - Returns: The positions of stream dependencies, or of parts of them, in the bytes.
    mutating func read(_ bytes: ByteBuffer, found: (Int, Int) -> Void) -> [Range<Int>] {
        var dependencies: [Range<Int>] = []
        var index = bytes.readerIndex
        while index < bytes.writerIndex {
            let skipped = min(skip, bytes.writerIndex - index)
            let range = dependency.clamped(to: skip - skipped..<skip)
            if !range.isEmpty { dependencies.append(index + skip - range.upperBound..<index + skip - range.lowerBound) }
            skip -= skipped
            index += skipped
            guard skip == 0, index < bytes.writerIndex else { break }
            let wanted = min(Self.headerByteCount - header.count, bytes.writerIndex - index)
            guard let part = bytes.getBytes(at: index, length: wanted) else { break }
            header += part
            index += wanted
            guard header.count == Self.headerByteCount else { break }
            skip = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
            dependency = Self.dependency(ofType: header[3], flags: header[4], byteCount: skip)
            let stream = header[5...].reduce(0) { $0 << 8 | Int($1) } & 0x7FFF_FFFF
            header.removeAll(keepingCapacity: true)
            if stream > 0 { found(stream, skip + Self.headerByteCount) }
        }
        return dependencies
    }

    /// Returns the position of a stream dependency in a frame, counted from the frame's end (RFC 9113 §6.2, §6.3).
    private static func dependency(ofType type: UInt8, flags: UInt8, byteCount: Int) -> Range<Int> {
        let isPadded = flags & 0x08 != 0
        let start: Int? =
            switch type {
            case 0x01 where flags & 0x20 != 0: isPadded ? 1 : 0
            case 0x02: 0
            default: nil
            }
        guard let start, byteCount >= start + 4 else { return 0..<0 }
        return byteCount - start - 4..<byteCount - start
    }
}
