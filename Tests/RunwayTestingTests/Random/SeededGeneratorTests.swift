import RunwayTesting
import Testing

struct SeededGeneratorTests {
    /// The first numbers of the published generator for the seed 1234567.
    @Test func numbersAreThoseOfSplitMix64() {
        var random = SeededGenerator(seed: 1_234_567)
        let numbers: [UInt64] = [
            6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423, 4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ]
        for number in numbers { #expect(random.next() == number) }
    }
}
