import Testing

@testable import RunwayDemo

@Suite struct SeededGeneratorTests {
    @Test func seed1234567GivesThePublishedNumbers() {
        var generator = SeededGenerator(seed: 1_234_567)
        let numbers = (1...5).map { _ in generator.next() }
        #expect(
            numbers == [
                6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
                4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
            ])
    }

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
