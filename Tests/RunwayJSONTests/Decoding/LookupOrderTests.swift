import RunwayJSON
import Testing

/// A decoder's lookups go on where the one before ended; what they find must not depend on that.
@Suite struct LookupOrderTests {
    struct Name: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Asks for names in the order that `userInfo` gives.
    struct Lookups: Decodable {
        static let names = CodingUserInfoKey(rawValue: "names")
        let found: [Int?]

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Name.self)
            let names = Self.names.flatMap { decoder.userInfo[$0] as? [String] } ?? []
            found = try names.map { try container.decodeIfPresent(Int.self, forKey: Name(stringValue: $0)) }
        }
    }

    /// Names that are alike in what a lookup looks at first: lengths, first and last bytes; and the same written in escapes.
    private static let names: [(written: String, name: String)] = [
        ("", ""), ("a", "a"), (#"\u0061"#, "a"), ("ab", "ab"), ("aab", "aab"), ("acb", "acb"), ("é", "é"),
        (#"\u00e9"#, "é"),
        ("fourteen_bytes", "fourteen_bytes"), ("fourteen_bytes_and_more", "fourteen_bytes_and_more"),
        ("fourteen_bytez", "fourteen_bytez"), ("fiveten_bytes_", "fiveten_bytes_"), (#"a\/b"#, "a/b"), ("a/b", "a/b"),
    ]

    @Test(arguments: 0..<8 as Range<UInt64>)
    func membersAreFoundInWhateverOrderTheyAreAskedFor(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for round in 0..<400 {
            let picked = (0..<Int.random(in: 0...20, using: &random)).map { _ in
                Self.names[Int.random(in: Self.names.indices, using: &random)]
            }
            let members = picked.enumerated().map { #""\#($1.written)":\#($0)"# }
            let raw = try JSONDocument("{" + members.joined(separator: ",") + "}").root
            var asked = (round % 2 == 0 ? picked : Self.names).map(\.name)
            if round % 3 != 0 { asked.shuffle(using: &random) }
            var decoder = JSONDocumentDecoder()
            if let key = Lookups.names { decoder.userInfo[key] = asked }
            let found = try decoder.decode(Lookups.self, from: raw).found
            let expected = asked.map { name in picked.firstIndex { $0.name == name } }
            #expect(found == expected, "seed \(seed), \(raw), \(asked)")
            #expect(asked.map { raw[$0].int } == expected)
        }
    }
}
