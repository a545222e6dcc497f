import NIOCore
import NIOPosix

/// One connection to a server of this machine, for what no HTTP client would send.
struct RawClient {
    private var parts: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private let channel: any Channel
    /// What came so far.
    private(set) var received = ""

    /// Connects, and disconnects when `body` has ended.
    static func connecting<Value: Sendable>(
        to port: Int, _ body: (inout RawClient) async throws -> Value
    ) async throws -> Value {
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.allowRemoteHalfClosure, value: true)
        let channel = try await bootstrap.connect(host: "127.0.0.1", port: port) { channel in
            channel.eventLoop.makeCompletedFuture {
                try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
            }
        }
        return try await channel.executeThenClose { inbound, outbound in
            var client = RawClient(
                parts: inbound.makeAsyncIterator(), outbound: outbound, channel: channel.channel)
            return try await body(&client)
        }
    }

    /// Sends a text, and returns all that comes back until the server closes the connection.
    static func exchange(_ text: String, port: Int) async throws -> String {
        try await exchange(Array(text.utf8), port: port)
    }

    /// Sends bytes, and returns all that comes back until the server closes the connection.
    static func exchange(_ bytes: [UInt8], port: Int) async throws -> String {
        try await connecting(to: port) { client in
            try await client.send(bytes)
            return try await client.receiveAll()
        }
    }

    private init(
        parts: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator,
        outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>, channel: any Channel
    ) {
        self.parts = parts
        self.outbound = outbound
        self.channel = channel
    }

    /// Sends a text.
    func send(_ text: String) async throws { try await send(Array(text.utf8)) }

    /// Sends bytes.
    func send(_ bytes: [UInt8]) async throws { try await outbound.write(ByteBuffer(bytes: bytes)) }

    /// Waits until `text` came; returns all so far.
    @discardableResult
    mutating func receive(_ text: String) async throws -> String {
        while !received.contains(text), try await receiveMore() {}
        return received
    }

    /// Waits until the server closes the connection; returns all that came.
    mutating func receiveAll() async throws -> String {
        while try await receiveMore() {}
        return received
    }

    private mutating func receiveMore() async throws -> Bool {
        guard let part = try await parts.next(isolation: #isolation) else { return false }
        received += String(buffer: part)
        return true
    }
}
