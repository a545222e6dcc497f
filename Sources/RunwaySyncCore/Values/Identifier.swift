/// A UUID, without Foundation. It identifies a row, an operation, a device or an epoch. Ids are ordered by their bytes.
package struct Identifier: Hashable, Comparable, Sendable {
    /// The first eight bytes.
    package let high: UInt64
    /// The last eight bytes.
    package let low: UInt64

    package init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    package static func < (left: Self, right: Self) -> Bool { (left.high, left.low) < (right.high, right.low) }

    /// Makes a UUID of version 7, which sorts by its time (RFC 9562 §5.7).
    ///
    /// - Parameter milliseconds: The time since 1970.
    package static func version7(at milliseconds: Int64, using random: inout some RandomNumberGenerator) -> Identifier {
        let time = UInt64(clamping: milliseconds) & 0xFFFF_FFFF_FFFF as UInt64
        return Identifier(high: time << 16 | random.next() >> 52, low: random.next()).marked(version: 7)
    }

    /// Makes the UUID of version 5 for a name (RFC 9562 §5.5). Equal names have equal UUIDs on every device.
    package static func version5(of name: [UInt8], in namespace: Identifier) -> Identifier {
        let digest = SHA1.hash(namespace.bytes + name)
        return Identifier(bytes: digest.prefix(16)).marked(version: 5)
    }

    package var bytes: [UInt8] { withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) } }

    private init(bytes: ArraySlice<UInt8>) {
        func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(high: word(bytes.prefix(8)), low: word(bytes.dropFirst(8)))
    }

    private func marked(version: UInt64) -> Identifier {
        Identifier(high: high & ~(0xF000 as UInt64) | version << 12, low: low & (.max >> 2) | 1 << 63)
    }
}

extension Identifier: CustomStringConvertible, LosslessStringConvertible {
    /// The text in lower case, with four hyphens.
    package var description: String {
        String(unsafeUninitializedCapacity: 36) { text in
            var place = 0
            for shift in stride(from: 124, through: 0, by: -4) {
                if place == 8 || place == 13 || place == 18 || place == 23 {
                    text[place] = UInt8(ascii: "-")
                    place += 1
                }
                let digit = UInt8((shift < 64 ? low >> shift : high >> (shift - 64)) & 15)
                text[place] = digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
                place += 1
            }
            return place
        }
    }

    /// Reads a UUID in any case; `nil` if the text has another form.
    package init?(_ description: String) {
        var (high, low, place): (UInt64, UInt64, Int) = (0, 0, 0)
        for byte in description.utf8 {
            switch place {
            case 8, 13, 18, 23: if byte != UInt8(ascii: "-") { return nil }
            default:
                guard let digit = Self.digit(byte) else { return nil }
                (high, low) = (high << 4 | low >> 60, low << 4 | digit)
            }
            place += 1
        }
        if place != 36 { return nil }
        self.init(high: high, low: low)
    }

    private static func digit(_ byte: UInt8) -> UInt64? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }
}

/// SHA-1, as version 5 of UUIDs requires. It protects nothing here.
private enum SHA1 {
    static func hash(_ message: [UInt8]) -> [UInt8] {
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        var padded = message + [0x80]
        padded += Array(repeating: 0, count: (120 - padded.count % 64) % 64)
        padded += (0..<8).map { UInt8(truncatingIfNeeded: UInt64(message.count) * 8 >> (56 - 8 * UInt64($0))) }
        for start in stride(from: 0, to: padded.count, by: 64) { mix(padded[start..<start + 64], into: &state) }
        return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * UInt32($0))) } }
    }

    private static func mix(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
        func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 { word << count | word >> (32 - count) }
        var words = (0..<16).map { index in
            block.dropFirst(4 * index).prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        for index in 16..<80 {
            words.append(rotate(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], 1))
        }
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for index in 0..<80 {
            let (mixed, constant): (UInt32, UInt32) =
                switch index {
                case ..<20: (b & c | ~b & d, 0x5A82_7999)
                case ..<40: (b ^ c ^ d, 0x6ED9_EBA1)
                case ..<60: (b & c | b & d | c & d, 0x8F1B_BCDC as UInt32)
                default: (b ^ c ^ d, 0xCA62_C1D6 as UInt32)
                }
            let next = rotate(a, 5) &+ mixed &+ e &+ constant &+ words[index]
            (a, b, c, d, e) = (next, a, rotate(b, 30), c, d)
        }
        for (index, word) in [a, b, c, d, e].enumerated() { state[index] &+= word }
    }
}
