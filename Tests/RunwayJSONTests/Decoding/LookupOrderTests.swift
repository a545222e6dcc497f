import Testing

@testable import RunwayJSON

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
    func membersAreFoundInAnyOrder(_ seed: UInt64) throws {
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

    @Test func nameMatchingOnlyByPrefixIsNotFound() throws {
        let text = #"{"fourteen_bytes":1,"fourteen_bytes_and_more":"x","y":2}"#
        let raw = try JSONDocument(text).root
        var decoder = JSONDocumentDecoder()
        let names = [
            #"fourteen_bytes":1,"#, #"fourteen_bytes":1,"fourteen_bytes_and_more"#,
            #"fourteen_bytes_and_more":""#, #"fourteen_bytes_and_more":"x","y"#, #"fourteen_bytes\"#,
        ]
        for name in names { #expect(!raw[name].exists, "\(name)") }
        if let key = Lookups.names { decoder.userInfo[key] = names + ["fourteen_bytes"] }
        #expect(try decoder.decode(Lookups.self, from: raw).found == names.map { _ in nil } + [1])
    }

    /// Numbers by numbers, and how many words of the index the lookups have gone over again.
    struct Counted: Decodable {
        let numbers: [Int: Int]
        let searched: Int
        let hasTable: Bool

        init(from decoder: any Decoder) throws {
            numbers = try [Int: Int](from: decoder)
            let decoder = decoder as? ValueDecoder
            searched = decoder?.cursor.searchedBehind ?? .max
            hasTable = decoder?.table != nil
        }
    }

    /// As they are, and with escapes, the first of which fills the filter.
    @Test(arguments: [false, true])
    func decodingNamesTakesLinearTime(_ isEscaped: Bool) throws {
        let count = 30_000
        let members = (0..<count).map { isEscaped && $0 % 3 == 0 ? #""\u0030\#($0)":\#($0)"# : #""\#($0)":\#($0)"# }
        let document = try JSONDocument("{" + members.joined(separator: ",") + #","7":0}"#)
        let decoded = try JSONDocumentDecoder().decode(Counted.self, from: document)
        #expect(decoded.numbers[7] == 7 && decoded.numbers[29_999] == 29_999)
        #expect(decoded.hasTable)
        // The index has five words a member.
        #expect(decoded.searched < 40 * 5 * count)
    }

    @Test func lookupsBehindTheTableFindTheFirstMember() throws {
        let names = (0..<3000).map { $0 % 5 == 0 ? #"\u00e9\#($0 / 2)"# : "é\($0 / 2)" }
        let text = "{" + names.enumerated().map { #""\#($1)":\#($0)"# }.joined(separator: ",") + "}"
        let raw = try JSONDocument(text).root
        let asked = (0..<1500).reversed().map { "é\($0)" } + ["e\u{301}1", "é", "é1500"]
        var decoder = JSONDocumentDecoder()
        if let key = Lookups.names { decoder.userInfo[key] = asked }
        let found = try decoder.decode(Lookups.self, from: raw).found
        #expect(found == (0..<1500).reversed().map { 2 * $0 } + [nil, nil, nil])
    }
}
