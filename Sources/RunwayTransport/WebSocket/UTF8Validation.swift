/// Checks that bytes arriving in parts are valid UTF-8 (RFC 3629 §4).
///
/// It refuses at the first byte that no valid text can contain at that position, including overlong forms, surrogates,
/// and code points beyond U+10FFFF.
struct UTF8Validation: Equatable {
    /// The number of continuation bytes that the current character still needs.
    private var missingCount = 0
    /// The permitted range of the next continuation byte.
    private var next: ClosedRange<UInt8> = 0x80...0xBF

    /// Whether the bytes so far end with a complete character.
    var isComplete: Bool { missingCount == 0 }

    /// Checks a part. Returns `false` if no valid text begins with the bytes so far; do not pass further parts then.
    mutating func accept(_ bytes: some Sequence<UInt8>) -> Bool {
        for byte in bytes {
            if missingCount > 0 {
                guard next.contains(byte) else { return false }
                missingCount -= 1
                next = 0x80...0xBF
            } else if byte >= 0x80 {
                guard begin(byte) else { return false }
            }
        }
        return true
    }

    private mutating func begin(_ byte: UInt8) -> Bool {
        switch byte {
        case 0xC2...0xDF: missingCount = 1
        case 0xE0...0xEF:
            missingCount = 2
            if byte == 0xE0 { next = 0xA0...0xBF }
            if byte == 0xED { next = 0x80...0x9F }
        case 0xF0...0xF4:
            missingCount = 3
            if byte == 0xF0 { next = 0x90...0xBF }
            if byte == 0xF4 { next = 0x80...0x8F }
        default: return false
        }
        return true
    }
}
