/// The name of a member. Two names are the same only if they have the same bytes in UTF-8, as in the stores of servers.
///
/// A `String` equals every other string with the same characters: "é" equals "e" and a combining accent. With such
/// names one member could be mistaken for another.
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
        // No text has this byte: it separates this text from the values that are hashed after it.
        hasher.combine(0xFF as UInt8)
    }
}
