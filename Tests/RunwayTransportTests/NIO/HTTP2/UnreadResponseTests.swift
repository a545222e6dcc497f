import Runway
import Synchronization
import Testing

@testable import RunwayTransport

/// Responses that nobody reads, over HTTP/2: what they may take of memory.
@Suite(.timeLimit(.minutes(10)))
struct UnreadResponseTests {
    private static let streamCount = 12
    private static let bodyByteCount = 60_000
    /// Less than half of what all bodies are together, and more than the window of the connection.
    private static let limit = 300_000

    /// A server that sends as much of every body as the window of the connection lets it, and then asks with a PING whether all of
    /// it is there.
    private final class Sender: Sendable {
        private struct State {
            var window = 65_535
            var rest: [(stream: Int, byteCount: Int)] = []
            var sentByteCount = 0
            var acknowledgedPings = 0
        }

        private let state = Mutex(State())

        var sentByteCount: Int { state.withLock(\.sentByteCount) }

        func act(on connection: RawConnection, _ frame: RawFrame?) {
            guard let frame else { return connection.write(.settings(), .settingsAck) }
            if frame.is(.headers) {
                connection.write(.headers(frame.stream))
                state.withLock { $0.rest.append((frame.stream, UnreadResponseTests.bodyByteCount)) }
            } else if frame.is(.windowUpdate), frame.stream == 0 {
                state.withLock { $0.window += frame.number }
            } else {
                return
            }
            let frames = state.withLock { state in
                var frames: [RawFrame] = []
                while let (stream, byteCount) = state.rest.first, state.window > 0 {
                    let count = min(byteCount, state.window, 16_384)
                    state.window -= count
                    state.sentByteCount += count
                    state.rest[0].byteCount -= count
                    let isLast = count == byteCount
                    if isLast { state.rest.removeFirst() }
                    frames.append(
                        RawFrame(
                            .data, flags: isLast ? RawFrame.endStream : 0, stream: stream,
                            [UInt8](repeating: 7, count: count)))
                }
                return frames + [RawFrame(.ping, RawFrame.number(state.sentByteCount) + [0, 0, 0, 0])]
            }
            connection.write(frames.flatMap(\.bytes))
        }
    }

    private func layer(_ server: RawHTTP2Server) throws -> NetworkLayer {
        var wire = WireSettings()
        wire.connectionWindowByteCount = 128 << 10
        wire.maximumUnreadByteCount = Self.limit
        return try server.layer(wire)
    }

    /// Returns once the client has taken in all that was sent, and has said how much more may be.
    private func waitForStandstill(_ server: RawHTTP2Server, _ sender: Sender) async {
        await server.wait { server in
            server.frames().contains { frame in
                frame.is(.ping) && frame.flags & RawFrame.ack != 0 && frame.number == sender.sentByteCount
                    && frame.number > Self.limit / 2
            }
        }
    }

    @Test func unreadBytesAreBoundedUntilTheyAreRead() async throws {
        let sender = Sender()
        try await RawHTTP2Server.run(sender.act) { server in
            let network = try layer(server)
            var responses: [StreamedResponse] = []
            for index in 0..<Self.streamCount {
                responses.append(try await network.stream(Fetch<GET>("\(index)")))
            }
            await waitForStandstill(server, sender)
            #expect(sender.sentByteCount <= Self.limit + 16_384)
            #expect(sender.sentByteCount < Self.streamCount * Self.bodyByteCount)
            // Some of the responses have ended, and count like the others.
            for response in responses {
                #expect(try await response.body.collect(upTo: 1 << 20).count == Self.bodyByteCount)
            }
            #expect(sender.sentByteCount == Self.streamCount * Self.bodyByteCount)
        }
    }

    @Test func floodOfSingleBytesWaitsInFewParts() async throws {
        let count = 50_000
        try await RawHTTP2Server.run { connection, frame in
            guard let frame else { return connection.write(.settings(), .settingsAck) }
            guard frame.is(.headers) else { return }
            let byte = RawFrame(.data, stream: frame.stream, [7]).bytes
            var flood = RawFrame.headers(frame.stream).bytes
            for _ in 0..<count { flood += byte }
            flood += RawFrame.data(frame.stream, "").bytes
            connection.write(flood + RawFrame(.ping, [UInt8](repeating: 1, count: 8)).bytes)
        } _: { server in
            let response = try await server.layer().stream(Fetch<GET>("a"))
            // All of it has arrived when the PING after it is acknowledged.
            await server.wait { server in server.frames().contains { $0.is(.ping) && $0.flags & RawFrame.ack != 0 } }
            var byteCounts: [Int] = []
            for try await part in response.body { byteCounts.append(part.count) }
            #expect(byteCounts.reduce(0, +) == count)
            #expect(byteCounts.count < 10, "\(byteCounts)")
        }
    }

    @Test func releasingAnUnreadResponseFreesTheWindow() async throws {
        let sender = Sender()
        try await RawHTTP2Server.run(sender.act) { server in
            let network = try layer(server)
            var responses: [StreamedResponse] = []
            for index in 0..<Self.streamCount {
                responses.append(try await network.stream(Fetch<GET>("\(index)")))
            }
            await waitForStandstill(server, sender)
            #expect(sender.sentByteCount < Self.streamCount * Self.bodyByteCount)
            let last = responses.removeLast()
            responses = []
            #expect(try await last.body.collect(upTo: 1 << 20).count == Self.bodyByteCount)
        }
    }
}
