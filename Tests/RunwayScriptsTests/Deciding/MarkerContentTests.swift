import RunwayTesting
import Testing

@testable import RunwayScripts

struct MarkerContentTests {
    private func digest(_ number: UInt8) -> [UInt8] { Array(repeating: number, count: 32) }

    /// The content that the next process finds if this one ends while a bundle's script runs.
    private func content(after content: MarkerContent, running number: Int) -> MarkerContent {
        var bytes = content.bytes
        bytes[MarkerContent.runningOffset] = UInt8(number)
        return MarkerContent(reading: bytes)
    }

    @Test func scriptThatRanAtTheEndIsCondemned() {
        var first = MarkerContent(reading: [])
        _ = first.register(digest(1))
        let number = first.register(digest(2)) ?? 0
        let second = content(after: first, running: number)
        #expect(second.isCondemned(digest(2)) && !second.isCondemned(digest(1)))
        #expect(second.bytes[MarkerContent.runningOffset] == 0)
        #expect(content(after: second, running: 0).isCondemned(digest(2)))
    }

    @Test func endWithoutScriptCondemnsNone() {
        var first = MarkerContent(reading: [])
        _ = first.register(digest(1))
        #expect(!content(after: first, running: 0).isCondemned(digest(1)))
    }

    @Test func eightBundlesHaveNumbers() {
        var content = MarkerContent(reading: [])
        #expect((1...9).map { content.register(digest($0)) } == [1, 2, 3, 4, 5, 6, 7, 8, nil])
        #expect(content.register(digest(3)) == 3)
        content.unregister(5)
        #expect(content.register(digest(9)) == 5)
    }

    @Test func lastThirtyTwoStayCondemned() {
        var content = MarkerContent(reading: [])
        for number in UInt8(1)...40 {
            let place = content.register(digest(number)) ?? 0
            content.condemn(place)
            content.condemn(place)
            content.unregister(place)
        }
        let found = (UInt8(1)...40).filter { content.isCondemned(digest($0)) }
        #expect(found == Array(9...40))
        #expect(content.bytes.count == MarkerContent.byteCount)
    }

    @Test func damagedFilesAreReadWithoutTrap() {
        var generator = SeededGenerator(seed: 8)
        var full = MarkerContent(reading: [])
        for number in UInt8(1)...8 { full.condemn(full.register(digest(number)) ?? 0) }
        for _ in 1...2_000 {
            var bytes = full.bytes
            for _ in 1...Int.random(in: 1...8, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            if Bool.random(using: &generator) { bytes.removeLast(Int.random(in: 1...4_096, using: &generator)) }
            var content = MarkerContent(reading: bytes)
            #expect(content.bytes.count == MarkerContent.byteCount)
            #expect(content.bytes[MarkerContent.runningOffset] == 0)
            #expect(content.register(digest(99)) == 1)
        }
    }
}
