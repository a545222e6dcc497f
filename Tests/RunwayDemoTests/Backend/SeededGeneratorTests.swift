import RunwayTesting
import Testing

@testable import RunwayDemo

@Suite struct SeededGeneratorTests {
    @Test func integersReachBothBoundsAndNeverPassThem() {
        var generator = SeededGenerator(seed: 1)
        let drawn = Set((1...1000).map { _ in generator.integer(in: -2...3) })
        #expect(drawn == [-2, -1, 0, 1, 2, 3])
    }

    @Test func aSampleHoldsNoElementTwice() {
        var generator = SeededGenerator(seed: 1)
        for count in 0...12 {
            let sample = generator.sample(count, of: Array(1...10))
            #expect(sample.count == min(count, 10))
            #expect(Set(sample).count == sample.count)
        }
    }
}
