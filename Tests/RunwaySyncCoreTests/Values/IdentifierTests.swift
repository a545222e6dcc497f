import RunwaySyncCore
import RunwaySyncSimulator
import Testing

struct IdentifierTests {
    /// The example of RFC 9562, appendix A.4.
    @Test func version5HasTheBytesOfTheStandard() throws {
        let namespace = try #require(Identifier("6ba7b810-9dad-11d1-80b4-00c04fd430c8"))
        let id = Identifier.version5(of: Array("www.example.com".utf8), in: namespace)
        #expect(id.description == "2ed6657d-e927-568b-95e1-2665a8aea6a2")
    }

    @Test func version5HashesNamesOfEveryLength() {
        let namespace = Identifier(high: 1, low: 2)
        let ids = (0...130).map { Identifier.version5(of: Array(repeating: 7, count: $0), in: namespace) }
        #expect(Set(ids).count == 131)
    }

    @Test func version7SortsByTime() {
        var random = SeededRandom(seed: 1)
        let ids = (0..<100).map { Identifier.version7(at: 1_727_740_800_000 + $0, using: &random) }
        #expect(ids == ids.sorted())
        #expect(ids.allSatisfy { $0.high >> 12 & 15 == 7 && $0.low >> 62 == 2 })
    }

    @Test func textIsReadInAnyCase() {
        let text = "01924560-6c24-7c09-94ae-159add3efb0a"
        #expect(Identifier(text.uppercased())?.description == text)
    }

    @Test(arguments: [
        "", "01924560-6c24-7c09-94ae-159add3efb0", "019245606c247c0994ae159add3efb0a",
        "+1924560-6c24-7c09-94ae-159add3efb0a",
        "01924560-6c24-7c09-94ae-159add3efb0g", "01924560-6c24-7c09-94ae-159add3efb0a-",
    ])
    func malformedTextIsRefused(_ text: String) {
        #expect(Identifier(text) == nil)
    }
}
