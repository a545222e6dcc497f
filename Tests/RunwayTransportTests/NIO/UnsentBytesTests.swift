import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import RunwayTransport

/// What the system takes from an upload before the network carries it.
@Suite(.timeLimit(.minutes(5)))
struct UnsentBytesTests {
    @Test func receiverThatReadsNothingIsSentLittle() async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_rcvbuf), value: 32 << 10)
            .childChannelOption(.autoRead, value: false)
            .bind(host: "127.0.0.1", port: 0).get()
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: server.localAddress?.port ?? 0).get()
        try await channel.eventLoop.submit { channel.limitUnsentBytes() }.get()
        let taken = Atomic(0)
        let parts = (1...32).map { _ in
            channel.writeAndFlush(ByteBuffer(repeating: 0, count: 128 << 10))
                .map { _ = taken.add(1, ordering: .relaxed) }
        }
        try await parts[0].get()
        // The system takes what it wants in a few turns of the loop: without the bound, more than 2 MiB.
        for _ in 1...100 { try await channel.eventLoop.submit {}.get() }
        try await channel.close()
        for part in parts { _ = try? await part.get() }
        #expect(taken.load(ordering: .relaxed) < 8, "parts of 128 KiB")
        try await server.close()
    }
}
