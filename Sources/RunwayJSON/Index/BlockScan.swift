/// What one block of 64 bytes hands to the next while a document is scanned.
struct BlockScanState {
    /// 1 when the block's first byte is escaped by a reverse solidus before it.
    var escapeCarry: UInt64 = 0
    /// All ones when the block begins inside a string.
    var insideString: UInt64 = 0
    /// 1 when the byte before the block belongs to a literal or number.
    var scalarCarry: UInt64 = 0
    /// Whether a control character was met inside a string.
    var hasControlCharacter = false
}

/// The classes of the 64 bytes of a block, one bit a byte.
struct BlockMasks {
    var quotes: UInt64 = 0
    var backslashes: UInt64 = 0
    var operators: UInt64 = 0
    var blanks: UInt64 = 0
    var controls: UInt64 = 0

    /// Classifies bytes one by one; the path for processors without a vector path of their own.
    init(block: borrowing Span<UInt8>) {
        for place in 0..<64 {
            let bit = UInt64(1) &<< UInt64(place)
            switch block[place] {
            case UInt8(ascii: "\""): quotes |= bit
            case UInt8(ascii: "\\"): backslashes |= bit
            case UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "["), UInt8(ascii: "]"),
                UInt8(ascii: ":"), UInt8(ascii: ","):
                operators |= bit
            case 0x20: blanks |= bit
            case 0x09, 0x0A, 0x0D:
                blanks |= bit
                controls |= bit
            case ..<0x20: controls |= bit
            default: break
            }
        }
    }

    /// The places that the grammar has to look at, one bit each: both quotation marks of every string, the operators
    /// and the first bytes of literals and numbers outside strings, the escapes inside.
    func places(_ state: inout BlockScanState) -> UInt64 {
        let (escaped, escapes) = escapedBytes(&state)
        let realQuotes = quotes & ~escaped
        let inString = Self.prefixXor(realQuotes) ^ state.insideString
        state.insideString = UInt64(bitPattern: Int64(bitPattern: inString) &>> 63)
        if controls & inString != 0 { state.hasControlCharacter = true }
        let scalars = ~(operators | blanks | realQuotes)
        let scalarStarts = scalars & ~(scalars &<< 1 | state.scalarCarry)
        state.scalarCarry = scalars &>> 63
        return realQuotes | ((operators | scalarStarts) & ~inString) | (escapes & inString)
    }

    /// Which bytes are escaped, and which reverse solidi escape them; a run of these alternates.
    private func escapedBytes(_ state: inout BlockScanState) -> (escaped: UInt64, escapes: UInt64) {
        if backslashes == 0 {
            let escaped = state.escapeCarry
            state.escapeCarry = 0
            return (escaped, 0)
        }
        var escaped: UInt64 = 0
        var escapes: UInt64 = 0
        var carry = state.escapeCarry
        var rest = backslashes | carry
        // Each turn takes the lowest reverse solidus that is not escaped itself, or the byte escaped by the last block.
        while rest != 0 {
            if carry != 0 {
                escaped |= 1
                rest &= ~1
                carry = 0
                continue
            }
            let bit = rest & (0 &- rest)
            escapes |= bit
            rest &= ~bit
            let next = bit &<< 1
            if next == 0 {
                carry = 1
                break
            }
            escaped |= next
            rest &= ~next
        }
        state.escapeCarry = carry
        return (escaped, escapes)
    }

    /// Every bit becomes the parity of the bits up to it, so that what stands between quotation marks is ones.
    private static func prefixXor(_ mask: UInt64) -> UInt64 {
        var mask = mask
        mask ^= mask &<< 1
        mask ^= mask &<< 2
        mask ^= mask &<< 4
        mask ^= mask &<< 8
        mask ^= mask &<< 16
        mask ^= mask &<< 32
        return mask
    }
}
