/// Well-formed UTF-8 by the Unicode Standard, table 3-7.
enum UTF8Check {
    /// Returns the offset of the first ill-formed sequence, or `nil` if all bytes are well-formed.
    static func firstFault(in bytes: borrowing Span<UInt8>) -> Int? {
        var place = 0
        let count = bytes.count
        while place < count {
            if bytes[place] < 0x80 {
                place &+= 1
                continue
            }
            let length = sequenceLength(at: place, in: bytes)
            if length == 0 { return place }
            place &+= length
        }
        return nil
    }

    /// Returns the length of the well-formed sequence at a position, or 0 if the sequence there is ill-formed.
    static func sequenceLength(at place: Int, in bytes: borrowing Span<UInt8>) -> Int {
        // The first byte determines the length, and for some first bytes the range of the second byte.
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch bytes[place] {
        case 0x00...0x7F: return 1
        case 0xC2...0xDF: length = 2
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: length = 3
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: length = 4
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: return 0
        }
        guard bytes.count &- place >= length, second.contains(bytes[place &+ 1]) else { return 0 }
        for distance in 2..<max(length, 2) where bytes[place &+ distance] & 0xC0 != 0x80 { return 0 }
        return length
    }
}
