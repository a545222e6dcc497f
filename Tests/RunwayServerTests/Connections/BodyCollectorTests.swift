import HTTPTypes
import Hummingbird
import NIOCore
import RunwayTesting
import Testing

@testable import RunwayServer

/// Bodies that are received whole: their time, their rate, and how many bytes they are together.
@Suite(.timeLimit(.minutes(5)))
struct BodyCollectorTests {
    private let clock = ManualClock()

    private func collector(upTo maximumTotalByteCount: Int = 128 << 20) -> BodyCollector {
        BodyCollector(maximumTotalByteCount: maximumTotalByteCount, clock: clock)
    }

    @Test func silentBodyIsRefused() async throws {
        let (body, source) = RequestBody.makeStream()
        await source.yield(ByteBuffer(repeating: 0, count: 1 << 20))
        let collector = collector()
        let collection = Task { try await collector.collect(body, upTo: 2 << 20) }
        try await waitUntil { collector.byteCount == 1 << 20 }
        try await clock.waitForSleepers()
        // What it sent fast gains it no more silence.
        clock.advance(by: .seconds(20))
        await #expect(throws: BodyRefusal.tooSlow) { try await collection.value }
        #expect(collector.byteCount == 0)
    }

    @Test func tricklingBodyIsRefused() async throws {
        let (body, source) = RequestBody.makeStream()
        let collector = collector()
        let collection = Task { try await collector.collect(body, upTo: 2 << 20) }
        for count in 1...3 {
            try await clock.waitForSleepers()
            clock.advance(by: .seconds(6))
            await source.yield(ByteBuffer(string: "0"))
            try await waitUntil { collector.byteCount == count }
        }
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(3))
        await #expect(throws: BodyRefusal.tooSlow) { try await collection.value }
    }

    @Test func steadyBodyEndsWithinItsTime() async throws {
        let (body, source) = RequestBody.makeStream()
        let collector = collector()
        let collection = Task { try await collector.collect(body, upTo: 2 << 20) }
        for count in 1...7 {
            try await clock.waitForSleepers()
            clock.advance(by: .seconds(8))
            await source.yield(ByteBuffer(repeating: 0, count: 4000))
            try await waitUntil { collector.byteCount == count * 4000 }
        }
        try await clock.waitForSleepers()
        // 56 s have passed.
        clock.advance(by: .seconds(4))
        await #expect(throws: BodyRefusal.tooSlow) { try await collection.value }
    }

    @Test func longBodyMayTakeLongerThanAMinute() {
        var deadline = BodyDeadline(BodyTimeLimits(), at: .zero)
        // A megabit per second.
        for second in 1...120 {
            deadline.receive(128 << 10, at: .seconds(second))
            #expect(deadline.nextCheck(at: .seconds(second)) != nil)
        }
        // What came faster than half a megabit is worth two minutes more.
        for second in 121...239 {
            deadline.receive(500, at: .seconds(second))
            #expect(deadline.nextCheck(at: .seconds(second)) != nil)
        }
        deadline.receive(500, at: .seconds(242))
        #expect(deadline.nextCheck(at: .seconds(242)) == nil)
    }

    @Test func loneBodyIsBoundedByItsRoute() async throws {
        let collector = collector(upTo: 10)
        let large = RequestBody(buffer: ByteBuffer(repeating: 0, count: 20))
        #expect(try await collector.collect(large, upTo: 20).readableBytes == 20)
        let (held, source) = RequestBody.makeStream()
        await source.yield(ByteBuffer(string: "0"))
        let collection = Task { try await collector.collect(held, upTo: 10) }
        try await waitUntil { collector.byteCount == 1 }
        await #expect(throws: BodyRefusal.tooManyBytes) { try await collector.collect(large, upTo: 20) }
        source.finish()
        _ = try await collection.value
    }

    @Test func bodyThatIsReceivedIsReturned() async throws {
        let (body, source) = RequestBody.makeStream()
        let collector = collector()
        let collection = Task { try await collector.collect(body, upTo: 10) }
        await source.yield(ByteBuffer(string: "01234"))
        await source.yield(ByteBuffer(string: "56789"))
        source.finish()
        #expect(String(buffer: try await collection.value) == "0123456789")
        #expect(collector.byteCount == 0)
    }

    @Test func bodiesTogetherAreBounded() async throws {
        let collector = collector(upTo: 10)
        let (first, source) = RequestBody.makeStream()
        await source.yield(ByteBuffer(string: "012345"))
        let collection = Task { try await collector.collect(first, upTo: 10) }
        try await waitUntil { collector.byteCount == 6 }
        let second = RequestBody(buffer: ByteBuffer(string: "01234"))
        await #expect(throws: BodyRefusal.tooManyBytes) { try await collector.collect(second, upTo: 10) }
        source.finish()
        _ = try await collection.value
        let third = RequestBody(buffer: ByteBuffer(string: "01234"))
        #expect(try await collector.collect(third, upTo: 10).readableBytes == 5)
    }

    @Test func oversizedBodyCountsNoMore() async throws {
        let collector = collector()
        let body = RequestBody(buffer: ByteBuffer(string: "01234"))
        await #expect(throws: NIOTooManyBytesError.self) { try await collector.collect(body, upTo: 4) }
        #expect(collector.byteCount == 0)
    }

    @Test func cancelledCollectionEnds() async throws {
        let (body, source) = RequestBody.makeStream()
        let collector = collector()
        await source.yield(ByteBuffer(string: "0"))
        let collection = Task { try await collector.collect(body, upTo: 10) }
        try await waitUntil { collector.byteCount == 1 }
        collection.cancel()
        await #expect(throws: CancellationError.self) { try await collection.value }
        #expect(collector.byteCount == 0)
    }

    @Test func timeOfTheServerDoesNotCount() async throws {
        let (body, source) = RequestBody.makeStream()
        let (clock, slow) = (clock, ManualClock())
        await source.yield(ByteBuffer(string: "0"))
        let reception = Task {
            try await BodyReception(within: BodyTimeLimits(), by: ElapsedTime(clock)).receive(body) { _ in
                try await slow.sleep(for: .seconds(1))
            }
        }
        try await slow.waitForSleepers()
        for _ in 0..<3 {
            try await clock.waitForSleepers()
            clock.advance(by: .seconds(20))
        }
        source.finish()
        slow.advance(by: .seconds(1))
        try await reception.value
    }
}
