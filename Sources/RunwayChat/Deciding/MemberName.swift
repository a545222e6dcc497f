/// The name of a member. Two names are equal only if their UTF-8 bytes are equal, as in the stores of servers.
///
/// Two `String` values are equal if they have the same characters: "é" equals "e" with a combining accent. With such
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
        // No UTF-8 text contains this byte, so it separates the name from the next hashed value.
        hasher.combine(0xFF as UInt8)
    }
}
