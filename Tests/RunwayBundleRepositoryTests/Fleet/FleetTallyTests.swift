import RunwayBundleRepository
import RunwayTUF
import Testing

struct FleetTallyTests {
    private let sha256 = String(repeating: "ab", count: 32)

    private func record(_ event: String, version: Int64 = 7, name: String = "bundle") -> [UInt8] {
        let bundle = FleetEvent.bundle(version, sha256)
        return Array(#"{"name":"\#(name)","properties":{"event":"\#(event)","bundle":"\#(bundle)"}}"#.utf8)
    }

    private func tally(installed: Int, condemned: Int) -> FleetTally {
        var tally = FleetTally(of: 7, sha256)
        for _ in 0..<installed { tally.add(record("installed")) }
        for _ in 0..<condemned { tally.add(record("condemned")) }
        return tally
    }

    @Test func eventsOfTheVersionAreCounted() {
        var tally = tally(installed: 3, condemned: 1)
        for _ in 0..<2 { tally.add(record("ready")) }
        tally.add(record("ready", version: 6))
        tally.add(record("ready", name: "opened"))
        tally.add(record("launched"))
        for text in ["", "[]", "{}", #"{"name":"bundle","properties":1}"#, "\u{FF}"] { tally.add(Array(text.utf8)) }
        #expect(tally[.installed] == 3 && tally[.ready] == 2 && tally[.condemned] == 1)
        #expect(tally.sentence == "7-\(sha256): 3 installed, 2 ready, 1 condemned (33.33 %)")
    }

    @Test func rolloutsPauseAboveTheRate() {
        #expect(!tally(installed: 1_000, condemned: 20).exceeds(2, atLeast: 10))
        #expect(tally(installed: 1_000, condemned: 21).exceeds(2, atLeast: 10))
        #expect(!tally(installed: 3, condemned: 3).exceeds(2, atLeast: 10))
        #expect(tally(installed: 0, condemned: 10).exceeds(2, atLeast: 10))
    }
}
