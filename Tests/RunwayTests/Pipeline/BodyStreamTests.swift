import Runway
import Testing

struct BodyStreamTests {
    @Test func bytesInMemoryCanBeReadRepeatedly() async throws {
        let stream = BodyStream([1, 2, 3])
        for _ in 0..<3 { #expect(try await stream.collect(upTo: 3) == [1, 2, 3]) }
    }

    @Test func emptyBodyHasNoParts() async throws {
        var iterator = BodyStream([UInt8]()).makeAsyncIterator()
        #expect(try await iterator.next() == nil)
        #expect(try await iterator.next() == nil)
        #expect(try await BodyStream([UInt8]()).collect(upTo: 0) == [])
    }

    @Test func emptyPartsArePassedOver() async throws {
        let stream = BodyStream {
            var parts: [[UInt8]] = [[], [1], [], [], [2, 3], []]
            return { parts.isEmpty ? nil : parts.removeFirst() }
        }
        var seen: [[UInt8]] = []
        for try await part in stream { seen.append(part) }
        #expect(seen == [[1], [2, 3]])
    }

    @Test func collectingTakesTheBoundAndRefusesMore() async throws {
        let parts = AsyncStream<[UInt8]> { continuation in
            for part: [UInt8] in [[1, 2], [3], [4, 5]] { continuation.yield(part) }
            continuation.finish()
        }
        #expect(try await BodyStream(parts).collect(upTo: 5) == [1, 2, 3, 4, 5])
        let stream = BodyStream([1, 2, 3])
        let error = await #expect(throws: NetworkError.self) { try await stream.collect(upTo: 2) }
        #expect(error?.kind == .invalidResponse)
        #expect(error?.detail == "The body is larger than the 2 bytes that its reader allows.")
    }

    @Test func refusedBodyIsNotReadFurther() async throws {
        let (source, continuation) = AsyncStream<[UInt8]>.makeStream()
        for number in 0..<10 { continuation.yield([UInt8(number)]) }
        continuation.finish()
        let stream = BodyStream(source)
        await #expect(throws: NetworkError.self) { try await stream.collect(upTo: 3) }
        // The fourth part was asked for and refused; the rest is still there.
        #expect(try await stream.collect(upTo: 10) == [4, 5, 6, 7, 8, 9])
    }

    @Test func errorOfTheSourceReachesTheReader() async throws {
        struct Broken: Error, Equatable {}
        let stream = BodyStream {
            var count = 0
            return {
                count += 1
                if count > 1 { throw Broken() }
                return [7]
            }
        }
        var iterator = stream.makeAsyncIterator()
        #expect(try await iterator.next() == [7])
        await #expect(throws: Broken()) { try await stream.collect(upTo: 10) }
    }

    @Test func partIsRequestedOnlyWhenItIsRead() async throws {
        let (asked, continuation) = AsyncStream<Void>.makeStream()
        let stream = BodyStream {
            {
                continuation.yield()
                return [1]
            }
        }
        var iterator = stream.makeAsyncIterator()
        _ = try await iterator.next()
        _ = try await iterator.next()
        continuation.finish()
        var count = 0
        for await _ in asked { count += 1 }
        #expect(count == 2)
    }
}
