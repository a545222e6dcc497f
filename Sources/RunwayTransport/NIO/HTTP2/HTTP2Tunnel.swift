import HTTPTypes
import NIOCore
import NIOHTTP2
import Synchronization

/// A stream of an HTTP/2 connection that carries another protocol, as a NIO channel.
///
/// The head of the response reaches the handlers as an event of type `HTTPResponse`. The server's END_STREAM ends the
/// channel as the end of a TCP connection would; a reset or the loss of the connection ends it with an error (RFC 8441
/// §5). Bytes that arrive while no handler reads are buffered, and close the window of the stream.
///
/// Unchecked: every variable except those of `flags` is read and written only on the event loop of the connection.
final class HTTP2Tunnel: Channel, ChannelCore, @unchecked Sendable {
    private struct Flags {
        var isActive = true
        var isWritable = true
    }

    /// The channel becomes unwritable at `highWaterMark` unwritten bytes, and writable again at `lowWaterMark`.
    private static let highWaterMark = 64 << 10
    private static let lowWaterMark = 32 << 10
    /// The maximum number of bytes that handlers receive in one read.
    private static let readByteCount = 64 << 10

    let id: HTTP2StreamID
    let allocator: ByteBufferAllocator
    let eventLoop: any EventLoop
    let localAddress: SocketAddress?
    let remoteAddress: SocketAddress?
    var parent: (any Channel)? { owner?.sender.channel }
    /// The owner of the connection's tunnels; `nil` after the end.
    private var owner: HTTP2Tunnels?
    private let closePromise: EventLoopPromise<Void>
    private var ownPipeline: ChannelPipeline?
    /// Guards the flags that other threads read.
    private let flags = Mutex(Flags())

    /// Whether the final head of the response has arrived. `informationalCount` counts the interim heads before it.
    private(set) var hasHead = false
    var informationalCount = 0
    /// Whether the server has ended its side of the stream.
    private(set) var hasEnded = false
    /// The number of bytes that the server may still send.
    var window: Int
    /// The received bytes that no handler has read.
    private var arrived = ByteBuffer()
    private var isReadPending = true
    private var isDelivering = false
    private(set) var unwrittenByteCount = 0

    var unreadByteCount: Int { arrived.readableBytes }

    init(_ id: HTTP2StreamID, in owner: HTTP2Tunnels, window: Int) {
        self.id = id
        self.owner = owner
        self.window = window
        let channel = owner.sender.channel
        allocator = channel.allocator
        eventLoop = channel.eventLoop
        localAddress = channel.localAddress
        remoteAddress = channel.remoteAddress
        closePromise = channel.eventLoop.makePromise()
        ownPipeline = ChannelPipeline(channel: self)
    }

    var pipeline: ChannelPipeline {
        guard let ownPipeline else { preconditionFailure("a tunnel has its pipeline from its initialization on") }
        return ownPipeline
    }

    var closeFuture: EventLoopFuture<Void> { closePromise.futureResult }
    var isWritable: Bool { flags.withLock { $0.isWritable } }
    var isActive: Bool { flags.withLock { $0.isActive } }
    // The name is NIO's.
    // swift-format-ignore: NoLeadingUnderscores
    var _channelCore: any ChannelCore { self }
}

/// Events that the connection reports, on its event loop.
extension HTTP2Tunnel {
    func receive(_ head: HTTPResponse) {
        hasHead = true
        pipeline.fireUserInboundEventTriggered(head)
    }

    func receive(_ part: ByteBuffer) {
        guard isActive, part.readableBytes > 0 else { return }
        if arrived.readableBytes == 0 { arrived = part } else { arrived.writeImmutableBuffer(part) }
        owner?.buffered(part.readableBytes)
        deliver()
    }

    func receiveEnd() {
        hasEnded = true
        deliver()
    }

    /// Ends the channel. `error` is `nil` after an orderly end.
    func end(_ error: (any Error)?) {
        guard isActive else { return }
        flags.withLock { $0 = Flags(isActive: false, isWritable: false) }
        owner = nil
        arrived = ByteBuffer()
        if let error { pipeline.fireErrorCaught(error) }
        pipeline.fireChannelInactive()
        // The channel ends in a later turn of the event loop, since handlers may still be processing the event that
        // ended it.
        eventLoop.assumeIsolated().execute {
            self.removeHandlers(pipeline: self.pipeline)
            self.closePromise.succeed()
        }
    }

    /// Passes on buffered bytes while handlers read.
    private func deliver() {
        guard !isDelivering else { return }
        isDelivering = true
        while isReadPending, isActive {
            let byteCount = min(arrived.readableBytes, Self.readByteCount)
            guard byteCount > 0, let part = arrived.readSlice(length: byteCount) else { break }
            if arrived.readableBytes == 0 { arrived = ByteBuffer() }
            isReadPending = false
            owner?.consumed(byteCount, of: self)
            pipeline.fireChannelRead(part)
            pipeline.fireChannelReadComplete()
            pipeline.read()
        }
        isDelivering = false
        if hasEnded, arrived.readableBytes == 0 { close0(error: ChannelError.eof, mode: .all, promise: nil) }
    }
}

/// Operations that handlers request, on the event loop.
extension HTTP2Tunnel {
    func write0(_ data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard let owner else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        let part = unwrapData(data, as: ByteBuffer.self)
        let byteCount = part.readableBytes
        unwrittenByteCount += byteCount
        if unwrittenByteCount >= Self.highWaterMark { setWritable(false) }
        let written = eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { result in
            self.unwrittenByteCount -= byteCount
            if self.unwrittenByteCount <= Self.lowWaterMark { self.setWritable(true) }
            promise?.completeWith(result)
        }
        owner.sender.write(id, .data(.init(data: .byteBuffer(part))), promise: written)
    }

    func flush0() { owner?.sender.flushSoon() }

    func read0() {
        isReadPending = true
        deliver()
    }

    func close0(error: any Error, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .all else {
            promise?.fail(ChannelError.operationUnsupported)
            return
        }
        owner?.close(self)
        end(nil)
        promise?.succeed()
    }

    private func setWritable(_ isWritable: Bool) {
        let isChanged = flags.withLock { flags in
            guard flags.isActive, flags.isWritable != isWritable else { return false }
            flags.isWritable = isWritable
            return true
        }
        if isChanged { pipeline.fireChannelWritabilityChanged() }
    }
}

/// Channel operations that a stream does not support.
extension HTTP2Tunnel {
    func setOption<Option: ChannelOption>(_ option: Option, value: Option.Value) -> EventLoopFuture<Void> {
        eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
    }

    func getOption<Option: ChannelOption>(_ option: Option) -> EventLoopFuture<Option.Value> {
        eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
    }

    func localAddress0() throws -> SocketAddress { try localAddress ?? unsupported() }

    func remoteAddress0() throws -> SocketAddress { try remoteAddress ?? unsupported() }

    private func unsupported() throws(ChannelError) -> SocketAddress { throw .operationUnsupported }

    func register0(promise: EventLoopPromise<Void>?) { promise?.fail(ChannelError.operationUnsupported) }

    func bind0(to address: SocketAddress, promise: EventLoopPromise<Void>?) {
        promise?.fail(ChannelError.operationUnsupported)
    }

    func connect0(to address: SocketAddress, promise: EventLoopPromise<Void>?) {
        promise?.fail(ChannelError.operationUnsupported)
    }

    func triggerUserOutboundEvent0(_ event: Any, promise: EventLoopPromise<Void>?) {
        promise?.fail(ChannelError.operationUnsupported)
    }

    func channelRead0(_ data: NIOAny) {}

    func errorCaught0(error: any Error) {}
}
