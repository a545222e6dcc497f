/// Makes documents, valid ones and ones with a few bytes changed, the same ones for the same seed.
struct DocumentGenerator {
    private var random: SeededGenerator
    private var output: [UInt8] = []

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// A valid document; names are unique inside an object.
    mutating func document() -> [UInt8] {
        output = []
        blanks()
        value(depth: 0)
        blanks()
        return output
    }

    /// A document with up to four changes: bytes replaced, removed, inserted, doubled, swapped or cut off.
    mutating func mutated(_ document: [UInt8]) -> [UInt8] {
        var bytes = document
        for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.remove(at: place)
            case 2: bytes.insert(interestingByte(), at: place)
            case 3: bytes[place] = interestingByte()
            case 4: bytes.swapAt(place, Int.random(in: 0..<bytes.count, using: &random))
            case 5: bytes.removeSubrange(place...)
            case 6:
                let end = min(place + Int.random(in: 1...12, using: &random), bytes.count)
                bytes.insert(contentsOf: bytes[place..<end], at: place)
            default:
                let end = min(place + Int.random(in: 1...12, using: &random), bytes.count)
                bytes.removeSubrange(place..<end)
            }
        }
        return bytes
    }

    private static let interestingBytes =
        Array("{}[]:,\"\\/ \n\t\r-+.eE0123456789truefalsnu\u{0}\u{1}\u{1F}".utf8) + [
            0x80, 0xC0, 0xE0, 0xED, 0xF0, 0xF4, 0xFF, 0xA0,
        ]

    private mutating func interestingByte() -> UInt8 {
        pick(Self.interestingBytes)
    }

    private mutating func pick<Choice>(_ choices: [Choice]) -> Choice {
        choices[Int.random(in: choices.indices, using: &random)]
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    private mutating func blanks() {
        guard chance(15) else { return }
        for _ in 0..<Int.random(in: 1...(chance(10) ? 70 : 3), using: &random) {
            output.append(pick([0x20, 0x09, 0x0A, 0x0D]))
        }
    }

    private mutating func value(depth: Int) {
        switch Int.random(in: 0..<(depth > 5 ? 6 : 10), using: &random) {
        case 0: output += "null".utf8
        case 1: output += (chance(50) ? "true" : "false").utf8
        case 2, 3: number()
        case 4, 5: string()
        case 6, 7: array(depth: depth)
        default: object(depth: depth)
        }
    }

    private mutating func array(depth: Int) {
        output.append(UInt8(ascii: "["))
        for index in 0..<Int.random(in: 0...6, using: &random) {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            blanks()
            value(depth: depth + 1)
            blanks()
        }
        output.append(UInt8(ascii: "]"))
    }

    private mutating func object(depth: Int) {
        output.append(UInt8(ascii: "{"))
        for index in 0..<Int.random(in: 0...6, using: &random) {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            blanks()
            // A number after a name makes it unique whatever the rest is.
            string(suffix: "\(index)")
            blanks()
            output.append(UInt8(ascii: ":"))
            blanks()
            value(depth: depth + 1)
            blanks()
        }
        output.append(UInt8(ascii: "}"))
    }

    private mutating func digits(_ range: ClosedRange<Int>) {
        for _ in 0..<Int.random(in: range, using: &random) {
            output.append(UInt8.random(in: 0x30...0x39, using: &random))
        }
    }

    private mutating func number() {
        if chance(30) { output.append(UInt8(ascii: "-")) }
        if chance(20) {
            output.append(UInt8(ascii: "0"))
        } else {
            output.append(UInt8.random(in: 0x31...0x39, using: &random))
            digits(0...(chance(20) ? 22 : 5))
        }
        if chance(40) {
            output.append(UInt8(ascii: "."))
            digits(1...(chance(20) ? 25 : 4))
        }
        if chance(20) {
            output.append(chance(50) ? UInt8(ascii: "e") : UInt8(ascii: "E"))
            if chance(50) { output.append(chance(50) ? UInt8(ascii: "-") : UInt8(ascii: "+")) }
            digits(1...(chance(10) ? 4 : 2))
        }
    }

    private mutating func string(suffix: String = "") {
        output.append(UInt8(ascii: "\""))
        for _ in 0..<Int.random(in: 0...(chance(10) ? 80 : 10), using: &random) { character() }
        output += suffix.utf8
        output.append(UInt8(ascii: "\""))
    }

    private mutating func character() {
        switch Int.random(in: 0..<20, using: &random) {
        case 0:
            output += pick(["\\\"", "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t"]).utf8
        case 1: output += "\\u00\(Int.random(in: 10...99, using: &random))".utf8
        case 2:
            output += pick(["\\u4e2d", "\\ud83d\\ude00", "\\uFFFF", "\\uE000", "\\u0800"]).utf8
        case 3...6:
            output += pick(["中", "文", "é", "ß", "😀", "\u{7FF}", "\u{FFFD}", "\u{10FFFF}"]).utf8
        case 7: output.append(pick(Array("{}[]:,/' ".utf8)))
        default: output.append(UInt8.random(in: 0x61...0x7A, using: &random))
        }
    }
}
