/// Classifies the 64 bytes of a block one by one into bit masks with one bit per byte. It is the fallback for
/// processors without a vector scan in `RunwayJSONSIMD`, and returns the same bits.
struct BlockScan {
    /// 1 if the next block's first byte is escaped by the backslash before it.
    private var escapeCarry: UInt64 = 0
    /// All ones if the next block begins inside a string.
    private var insideString: UInt64 = 0
    /// 1 if the byte before the next block belongs to a literal or number.
    private var scalarCarry: UInt64 = 0
    /// Whether a control character occurred inside a string.
    private(set) var hasControlCharacter = false

    private struct Classes {
        var quotes: UInt64 = 0
        var backslashes: UInt64 = 0
        var operators: UInt64 = 0
        var blanks: UInt64 = 0
        var controls: UInt64 = 0
    }

    /// Returns the positions in a block that the grammar must check, one bit each.
    ///
    /// - Outside strings: quotation marks, operators, and the first bytes of literals and numbers.
    /// - Inside strings: the backslashes of escapes.
    mutating func places(of block: borrowing Span<UInt8>) -> UInt64 {
        let classes = classes(of: block)
        let (escaped, escapes) = escapedBytes(classes.backslashes)
        let quotes = classes.quotes & ~escaped
        let inString = Self.prefixXor(quotes) ^ insideString
        insideString = UInt64(bitPattern: Int64(bitPattern: inString) &>> 63)
        if classes.controls & inString != 0 { hasControlCharacter = true }
        let scalars = ~(classes.operators | classes.blanks | quotes)
        let scalarStarts = scalars & ~(scalars &<< 1 | scalarCarry)
        scalarCarry = scalars &>> 63
        return quotes | ((classes.operators | scalarStarts) & ~inString) | (escapes & inString)
    }

    private func classes(of block: borrowing Span<UInt8>) -> Classes {
        var classes = Classes()
        for place in 0..<64 {
            let bit = UInt64(1) &<< UInt64(place)
            switch block[place] {
            case UInt8(ascii: "\""): classes.quotes |= bit
            case UInt8(ascii: "\\"): classes.backslashes |= bit
            case UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "["), UInt8(ascii: "]"),
                UInt8(ascii: ":"), UInt8(ascii: ","):
                classes.operators |= bit
            case 0x20: classes.blanks |= bit
            case 0x09, 0x0A, 0x0D:
                classes.blanks |= bit
                classes.controls |= bit
            case ..<0x20: classes.controls |= bit
            default: break
            }
        }
        return classes
    }

    /// Returns the escaped bytes and the backslashes that escape them. In a run of backslashes, the two alternate.
    private mutating func escapedBytes(_ backslashes: UInt64) -> (escaped: UInt64, escapes: UInt64) {
        var escaped = escapeCarry
        var escapes: UInt64 = 0
        var rest = backslashes & ~escaped
        escapeCarry = 0
        // Each iteration takes the lowest backslash that is not itself escaped.
        while rest != 0 {
            let bit = rest & (0 &- rest)
            escapes |= bit
            if bit &>> 63 != 0 { escapeCarry = 1 }
            escaped |= bit &<< 1
            rest &= ~(bit | bit &<< 1)
        }
        return (escaped, escapes)
    }

    /// Returns a mask in which each bit is the parity of the bits up to it. If `mask` marks the quotation marks, the
    /// bits inside strings are ones.
    private static func prefixXor(_ mask: UInt64) -> UInt64 {
        var mask = mask
        for shift in [1, 2, 4, 8, 16, 32] as [UInt64] { mask ^= mask &<< shift }
        return mask
    }
}
