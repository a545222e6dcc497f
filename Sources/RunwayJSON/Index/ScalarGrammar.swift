/// The grammar of what is neither a container nor a whole string: literals, numbers and escapes (RFC 8259 §3, §6, §7).
enum ScalarGrammar {
    /// The entry of a literal or number at a place, or nil when it is none.
    ///
    /// - Parameters:
    ///   - kind: The byte at the place.
    ///   - following: The next place, at which another token begins.
    @inline(__always)
    static func scalar(
        _ bytes: borrowing Span<UInt8>, kind: UInt8, at place: Int, before following: UInt32
    ) -> IndexEntry? {
        switch kind {
        case UInt8(ascii: "t"): literal(bytes, .true, "true", at: place, before: following)
        case UInt8(ascii: "f"): literal(bytes, .false, "false", at: place, before: following)
        case UInt8(ascii: "n"): literal(bytes, .null, "null", at: place, before: following)
        default: number(bytes, at: place, before: following)
        }
    }

    @inline(__always)
    private static func literal(
        _ bytes: borrowing Span<UInt8>, _ tag: IndexEntry.Tag, _ literal: StaticString, at place: Int,
        before following: UInt32
    ) -> IndexEntry? {
        let length = literal.utf8CodeUnitCount
        guard bytes.count &- place >= length else { return nil }
        var isEqual = true
        literal.withUTF8Buffer { wanted in
            for distance in 0..<length where bytes[place &+ distance] != wanted[distance] { isEqual = false }
        }
        guard isEqual, isDelimited(bytes, at: place &+ length, before: following) else { return nil }
        return IndexEntry(tag: tag, offset: place, extent: length)
    }

    @inline(__always)
    private static func number(
        _ bytes: borrowing Span<UInt8>, at place: Int, before following: UInt32
    ) -> IndexEntry? {
        let count = bytes.count
        guard place < count else { return nil }
        var end = place
        var tag = IndexEntry.Tag.integer
        if bytes[end] == UInt8(ascii: "-") { end &+= 1 }
        if end < count, bytes[end] == UInt8(ascii: "0") {
            end &+= 1
        } else {
            guard skipDigits(bytes, &end) else { return nil }
        }
        if end < count, bytes[end] == UInt8(ascii: ".") {
            end &+= 1
            tag = .number
            guard skipDigits(bytes, &end) else { return nil }
        }
        if end < count, bytes[end] | 0x20 == UInt8(ascii: "e") {
            end &+= 1
            tag = .number
            if end < count, bytes[end] == UInt8(ascii: "+") || bytes[end] == UInt8(ascii: "-") { end &+= 1 }
            guard skipDigits(bytes, &end) else { return nil }
        }
        guard isDelimited(bytes, at: end, before: following) else { return nil }
        return IndexEntry(tag: tag, offset: place, extent: end &- place)
    }

    /// Goes past digits, of which there must be at least one.
    @inline(__always)
    private static func skipDigits(_ bytes: borrowing Span<UInt8>, _ end: inout Int) -> Bool {
        let start = end
        while end < bytes.count, bytes[end] &- UInt8(ascii: "0") <= 9 { end &+= 1 }
        return end > start
    }

    /// Whether a literal or number may end before a byte: white space, or the next place, which is checked in its turn.
    @inline(__always)
    private static func isDelimited(_ bytes: borrowing Span<UInt8>, at end: Int, before following: UInt32) -> Bool {
        if end == Int(truncatingIfNeeded: following) || end == bytes.count { return true }
        switch bytes[end] {
        case 0x20, 0x09, 0x0A, 0x0D: return true
        default: return false
        }
    }

    /// Whether the reverse solidus at a place begins an escape.
    @inline(__always)
    static func isEscape(_ bytes: borrowing Span<UInt8>, at place: Int) -> Bool {
        guard place &+ 1 < bytes.count else { return false }
        switch bytes[place &+ 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return true
        case UInt8(ascii: "u"):
            guard place &+ 5 < bytes.count else { return false }
            for distance in 2...5 where StringText.hexValue(bytes[place &+ distance]) == nil { return false }
            return true
        default:
            return false
        }
    }
}
