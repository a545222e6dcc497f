import NIOCore
import Runway
import Testing

@testable import RunwayTransport

/// What waits in a streamed response for its reader.
struct ResponseStreamTests {
    /// All that waits, part by part.
    private func parts(of stream: ResponseStream) async throws -> [ByteBuffer] {
        stream.finish(.success(()), WireRecord())
        var parts: [ByteBuffer] = []
        while let part = try await stream.next().part { parts.append(part) }
        return parts
    }

    @Test func smallPartsThatWaitAreJoined() async throws {
        let unread = UnreadBytes()
        let stream = ResponseStream(step: 1 << 20, unread: unread)
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        for byte in bytes { stream.append(ByteBuffer(integer: byte)) }
        #expect(unread.count == bytes.count && stream.hasUnread)
        let joined = try await parts(of: stream)
        #expect(joined.flatMap { Array($0.readableBytesView) } == bytes)
        // Of 16 KiB each.
        #expect(joined.count == 7)
        #expect(unread.count == 0 && !stream.hasUnread)
    }

    @Test func largePartsAreUnchanged() async throws {
        func place(_ buffer: ByteBuffer) -> UInt {
            buffer.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
        }
        let stream = ResponseStream(step: 1 << 20)
        let large = (0..<3).map { ByteBuffer(repeating: UInt8($0), count: (4 << 10) + 1) }
        for part in large { stream.append(part) }
        #expect(try await parts(of: stream).map(place) == large.map(place))
    }

    @Test func partsBeforeAnErrorAreReadFirst() async throws {
        let unread = UnreadBytes()
        let stream = ResponseStream(step: 1 << 20, unread: unread)
        stream.append(ByteBuffer(string: "received"))
        stream.finish(.failure(WireError.closed), WireRecord())
        #expect(try await stream.next().part == ByteBuffer(string: "received"))
        #expect(unread.count == 0)
        await #expect(throws: WireError.closed) { _ = try await stream.next() }
    }

    @Test func droppedPartsAreNeverRead() async throws {
        let unread = UnreadBytes()
        let stream = ResponseStream(step: 1 << 20, unread: unread)
        stream.append(ByteBuffer(string: "received"))
        stream.finish(.failure(WireError.closed), WireRecord())
        stream.drop()
        #expect(unread.count == 0)
        await #expect(throws: WireError.closed) { _ = try await stream.next() }
    }
}
