import NIOCore
import NIOPosix
import Synchronization
import Testing

/// How the servers of these tests end.
@Suite(.timeLimit(.minutes(10)))
struct TrackedChannelTests {
    /// Without ``TrackedChannel`` SwiftNIO ends the process in one of these rounds.
    @Test func connectionsMadeWhileAServerEndsAreClosed() async throws {
        let folder = try UploadFolder()
        for _ in 0..<20 {
            let ends = Mutex<[EventLoopFuture<Void>]>([])
            try await UploadApp.run(in: folder) { app in
                let connections = (0..<20).map { _ in
                    ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                        .connect(host: "127.0.0.1", port: app.port)
                }
                // The first is made, and the others are on their way.
                _ = try await connections[0].get()
                ends.withLock { $0 = connections.map { $0.flatMap(\.closeFuture) } }
            }
            // Each is closed or refused.
            for end in ends.withLock(\.self) { _ = try? await end.get() }
        }
    }
}
