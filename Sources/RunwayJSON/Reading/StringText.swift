/// The text of a document's string with its escapes resolved (RFC 8259 §7).
///
/// A lone surrogate is read as U+FFFD. The document is valid, so every escape is complete.
struct StringText {
    let entry: IndexEntry

    /// Returns the text. A string without escapes is read directly from the bytes.
    func text(in storage: JSONStorage) -> String {
        if entry.tag == .string { return storage.text(entry.offset..<(entry.offset + entry.extent)) }
        return storage.text(unescaping: self)
    }

    /// Returns whether the text equals `other` in UTF-8. It creates no string.
    func equals(_ other: some Sequence<UInt8>, in bytes: [UInt8]) -> Bool {
        var rest = other.makeIterator()
        var place = entry.offset
        let end = entry.offset + entry.extent
        while place < end {
            if bytes[place] == UInt8(ascii: "\\") {
                let (scalar, length) = escape(at: place, in: bytes)
                for byte in UTF8.bytes(of: scalar) where rest.next() != byte { return false }
                place += length
            } else {
                guard rest.next() == bytes[place] else { return false }
                place += 1
            }
        }
        return rest.next() == nil
    }

    /// Returns the scalar of the escape at a position, and the escape's length in bytes. An escape is always longer
    /// than its scalar in UTF-8.
    func escape(at place: Int, in bytes: [UInt8]) -> (scalar: Unicode.Scalar, length: Int) {
        switch bytes[place + 1] {
        case UInt8(ascii: "b"): return ("\u{8}", 2)
        case UInt8(ascii: "f"): return ("\u{C}", 2)
        case UInt8(ascii: "n"): return ("\n", 2)
        case UInt8(ascii: "r"): return ("\r", 2)
        case UInt8(ascii: "t"): return ("\t", 2)
        case UInt8(ascii: "u"): break
        case let itself: return (Unicode.Scalar(itself), 2)
        }
        let unit = Self.codeUnit(at: place + 2, in: bytes)
        if let scalar = Unicode.Scalar(unit) { return (scalar, 6) }
        let end = entry.offset + entry.extent
        guard unit & 0xFC00 == 0xD800, place + 11 < end, bytes[place + 6] == UInt8(ascii: "\\"),
            bytes[place + 7] == UInt8(ascii: "u")
        else { return ("\u{FFFD}", 6) }
        let low = Self.codeUnit(at: place + 8, in: bytes)
        guard low & 0xFC00 == 0xDC00, let scalar = Unicode.Scalar(0x10000 + (unit & 0x3FF) << 10 + low & 0x3FF) else {
            return ("\u{FFFD}", 6)
        }
        return (scalar, 12)
    }

    /// Returns the number of bytes before the first backslash among eight bytes; the first is in the lowest byte.
    @inline(__always)
    static func plainByteCount(_ eight: UInt64) -> Int {
        // Turns each backslash into a zero byte. The lowest bit that is set below marks the first zero byte.
        let bytes = eight ^ 0x5C5C_5C5C_5C5C_5C5C
        return ((bytes &- 0x0101_0101_0101_0101) & ~bytes & 0x8080_8080_8080_8080).trailingZeroBitCount / 8
    }

    private static func codeUnit(at place: Int, in bytes: [UInt8]) -> UInt32 {
        (0..<4).reduce(0) { $0 << 4 | (hexValue(bytes[place + $1]) ?? 0) }
    }

    static func hexValue(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte &- UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte &- UInt8(ascii: "a") &+ 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte &- UInt8(ascii: "A") &+ 10)
        default: nil
        }
    }
}

extension UTF8 {
    /// Returns the UTF-8 bytes of a scalar.
    @inline(__always)
    static func bytes(of scalar: Unicode.Scalar) -> EncodedScalar { encode(scalar) ?? encodedReplacementCharacter }
}
