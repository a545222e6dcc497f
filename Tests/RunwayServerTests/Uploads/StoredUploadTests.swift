import Foundation
import NIOCore
import NIOPosix
import Testing

@testable import RunwayServer

/// Requests for one upload that follow one another.
@Suite(.timeLimit(.minutes(5)))
struct StoredUploadTests {
    /// Runs `body` with an upload, its file, and the connections of two requests.
    private func withUpload(
        _ body: (StoredUpload, UploadFile, [any Channel]) async throws -> Void
    ) async throws {
        let folder = try UploadFolder()
        let store = UploadStore(folder: folder.uploads, limits: .standard, by: ElapsedTime(ContinuousClock())) {
            Date()
        }
        let upload = try store.create(UploadRecord(method: "PUT", fields: []))
        let file = try UploadFile(upload.contentPath, O_WRONLY)
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = server.localAddress?.port ?? 0
        var channels: [any Channel] = []
        for _ in 1...2 {
            channels.append(
                try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .connect(host: "127.0.0.1", port: port).get())
        }
        try await body(upload, file, channels)
        for channel in channels { try? await channel.close() }
        try await server.close()
    }

    @Test func requestWaitsUntilTheFormerIsStored() async throws {
        try await withUpload { upload, file, channels in
            let turn = upload.takeTurn(over: channels[0], now: Date())
            let (next, offset) = (channels[1], { @Sendable in upload.status(now: Date()).offset })
            let settled = Task {
                await upload.settle(before: next)
                return offset()
            }
            // No more is received for the former request. What it has already received is stored.
            try await channels[0].closeFuture.get()
            _ = try upload.append(ByteBuffer(string: "0123"), to: file, in: turn, upTo: 10)
            _ = try upload.append(ByteBuffer(string: "4567"), to: file, in: turn, upTo: 10)
            upload.end(turn, now: Date())
            #expect(await settled.value == 8)
        }
    }

    @Test func removedUploadIsNotWaitedFor() async throws {
        try await withUpload { upload, _, channels in
            _ = upload.takeTurn(over: channels[0], now: Date())
            let next = channels[1]
            let settled = Task { await upload.settle(before: next) }
            try await channels[0].closeFuture.get()
            _ = upload.invalidate()
            await settled.value
        }
    }

    @Test func requestOverTheSameConnectionDoesNotWait() async throws {
        try await withUpload { upload, _, channels in
            _ = upload.takeTurn(over: channels[0], now: Date())
            await upload.settle(before: channels[0])
            #expect(channels[0].isActive)
        }
    }
}
