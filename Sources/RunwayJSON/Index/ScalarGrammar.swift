/// The grammar of literals, numbers and escapes (RFC 8259 §3, §6, §7).
enum ScalarGrammar {
    /// Returns the index entry of the literal or number at a position, or `nil` if neither is valid there.
    ///
    /// - Parameters:
    ///   - kind: The byte at the position.
    ///   - following: The next scanned position, at which another token begins.
    @inline(__always)
    static func scalar(
        _ bytes: BorrowedBytes, kind: UInt8, at place: Int, before following: UInt32
    ) -> IndexEntry? {
        switch kind {
        case UInt8(ascii: "t"): literal(bytes, .true, end: 0x6575_7274, at: place, before: following)
        case UInt8(ascii: "f"): literal(bytes, .false, end: 0x6573_6C61, at: place, before: following)
        case UInt8(ascii: "n"): literal(bytes, .null, end: 0x6C6C_756E, at: place, before: following)
        default: number(bytes, at: place, before: following)
        }
    }

    /// Reads a literal by its last four bytes, the first one in the lowest byte: `true`, `alse` or `null`. The caller
    /// has checked the first byte.
    @inline(__always)
    private static func literal(
        _ bytes: BorrowedBytes, _ tag: IndexEntry.Tag, end lastFour: UInt32, at place: Int, before following: UInt32
    ) -> IndexEntry? {
        let length = tag == .false ? 5 : 4
        guard bytes.count &- place >= length, bytes.four(at: place &+ length &- 4) == lastFour,
            isDelimited(bytes, at: place &+ length, before: following)
        else { return nil }
        return IndexEntry(tag: tag, offset: place, extent: length)
    }

    @inline(__always)
    private static func number(
        _ bytes: BorrowedBytes, at place: Int, before following: UInt32
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

    @inline(__always)
    private static func skipDigits(_ bytes: BorrowedBytes, _ end: inout Int) -> Bool {
        let start = end
        while end < bytes.count, bytes[end] &- UInt8(ascii: "0") <= 9 { end &+= 1 }
        return end > start
    }

    /// Whether a literal or number may end before the byte at `end`. That byte must be white space, or be at
    /// `following`, where the next token is checked.
    @inline(__always)
    private static func isDelimited(_ bytes: BorrowedBytes, at end: Int, before following: UInt32) -> Bool {
        if end == Int(following) || end == bytes.count { return true }
        switch bytes[end] {
        case 0x20, 0x09, 0x0A, 0x0D: return true
        default: return false
        }
    }

    /// Whether the backslash at a position begins a valid escape.
    @inline(__always)
    static func isEscape(_ bytes: BorrowedBytes, at place: Int) -> Bool {
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
