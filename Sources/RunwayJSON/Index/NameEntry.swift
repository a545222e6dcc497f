/// The index entry of a member's name: 32 bits, one word.
///
/// Bits 0–27 hold the offset of the first byte after the quotation mark. Bits 28–31 hold the length in bytes of a name
/// without escapes, up to 13; ``long`` for a longer name; or ``escaped``. The length distinguishes most names.
struct NameEntry {
    let bits: UInt32

    /// The length code for a name without escapes that has 14 bytes or more.
    static let long: UInt32 = 14
    /// The length code for a name with escapes.
    static let escaped: UInt32 = 15

    @inline(__always)
    init(bits: UInt32) { self.bits = bits }

    @inline(__always)
    init(offset: Int, count: Int, isEscaped: Bool) {
        let length = isEscaped ? Self.escaped : Self.length(of: count)
        bits = UInt32(truncatingIfNeeded: offset) | length &<< 28
    }

    @inline(__always) var offset: Int { Int(bits & 0xFFF_FFFF) }
    @inline(__always) var length: UInt32 { bits &>> 28 }

    /// Returns the length code of a name without escapes.
    @inline(__always)
    static func length(of count: Int) -> UInt32 { UInt32(truncatingIfNeeded: min(count, Int(long))) }

    /// Returns the name as the index entry of a string. For a long or escaped name, this searches for the closing
    /// quotation mark.
    func string(in bytes: [UInt8]) -> IndexEntry {
        if length < Self.long { return IndexEntry(tag: .string, offset: offset, extent: Int(length)) }
        var end = offset
        while bytes[end] != UInt8(ascii: "\"") { end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1 }
        let tag = length == Self.escaped ? IndexEntry.Tag.escapedString : .string
        return IndexEntry(tag: tag, offset: offset, extent: end - offset)
    }
}
