/// The name of a member, which is the same as another only if both have the same bytes in UTF-8, as in the stores of
/// servers.
///
/// A `String` equals every other with the same characters: "é" equals "e" and a combining accent. One member could then
/// pass for another.
struct MemberName: Sendable, Hashable, Comparable, Codable {
    let text: String

    init(_ text: String) { self.text = text }

    init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    static func == (one: MemberName, other: MemberName) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }

    static func < (one: MemberName, other: MemberName) -> Bool {
        one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
        // No text has this byte: it separates this text from what is hashed after it.
        hasher.combine(0xFF as UInt8)
    }
}
