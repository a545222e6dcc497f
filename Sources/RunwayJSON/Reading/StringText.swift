/// What a string of a document says once its escapes are undone (RFC 8259 §7).
///
/// A lone surrogate is read as U+FFFD. The document was checked before, so that every escape is a whole one.
struct StringText {
    let entry: IndexEntry

    /// The text. A string without escapes comes straight from the bytes.
    func text(in storage: JSONStorage) -> String {
        let range = entry.offset..<(entry.offset + entry.extent)
        if entry.tag == .string { return storage.text(range) }
        var units: [UInt8] = []
        units.reserveCapacity(entry.extent)
        unescape(storage.bytes) { units.append($0) }
        return String(decoding: units, as: UTF8.self)
    }

    /// Whether the text is the one whose UTF-8 is given, without making either.
    func equals(_ other: some Sequence<UInt8>, in bytes: [UInt8]) -> Bool {
        var rest = other.makeIterator()
        var isEqual = true
        unescape(bytes) { byte in
            if isEqual, rest.next() != byte { isEqual = false }
        }
        return isEqual && rest.next() == nil
    }

    /// Hands out the text's UTF-8, byte by byte.
    func unescape(_ bytes: [UInt8], _ yield: (UInt8) -> Void) {
        var place = entry.offset
        let end = entry.offset + entry.extent
        while place < end {
            let byte = bytes[place]
            guard byte == UInt8(ascii: "\\") else {
                yield(byte)
                place += 1
                continue
            }
            switch bytes[place + 1] {
            case UInt8(ascii: "b"): yield(0x08)
            case UInt8(ascii: "f"): yield(0x0C)
            case UInt8(ascii: "n"): yield(0x0A)
            case UInt8(ascii: "r"): yield(0x0D)
            case UInt8(ascii: "t"): yield(0x09)
            case UInt8(ascii: "u"):
                var scalar = Self.codeUnit(at: place + 2, in: bytes)
                if scalar & 0xFC00 == 0xD800, place + 11 < end, bytes[place + 6] == UInt8(ascii: "\\"),
                    bytes[place + 7] == UInt8(ascii: "u")
                {
                    let low = Self.codeUnit(at: place + 8, in: bytes)
                    if low & 0xFC00 == 0xDC00 {
                        scalar = 0x10000 + (scalar & 0x3FF) << 10 + low & 0x3FF
                        place += 6
                    }
                }
                Self.encode(Unicode.Scalar(scalar) ?? "\u{FFFD}", yield)
                place += 4
            case let itself: yield(itself)
            }
            place += 2
        }
    }

    private static func encode(_ scalar: Unicode.Scalar, _ yield: (UInt8) -> Void) {
        for byte in UTF8.encode(scalar)! { yield(byte) }
    }

    private static func codeUnit(at place: Int, in bytes: [UInt8]) -> UInt32 {
        (0..<4).reduce(0) { $0 << 4 | (hexValue(bytes[place + $1]) ?? 0) }
    }

    /// The value of a hexadecimal digit, or nil for any other byte.
    static func hexValue(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte &- UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte &- UInt8(ascii: "a") &+ 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte &- UInt8(ascii: "A") &+ 10)
        default: nil
        }
    }
}
