/// Base64 by the rules of RFC 9651 §3.3.5 and RFC 4648 §4.
package enum Base64 {
    /// Returns bytes in base64 with padding.
    package static func encoded(_ bytes: some Sequence<UInt8>) -> String {
        withBytes(of: bytes) { bytes in
            String(upTo: encodedCount(bytes.count)) { append(bytes, from: digits, isPadded: true, to: &$0) }
        }
    }

    /// Appends bytes in base64 with padding.
    static func append(_ bytes: [UInt8], to text: inout TextWriter) {
        bytes.withUnsafeBufferPointer { append($0, from: digits, isPadded: true, to: &text) }
    }

    /// Returns the length of the base64 text of `count` bytes, with padding.
    static func encodedCount(_ count: Int) -> Int { (count + 2) / 3 * 4 }

    /// Decodes base64. Returns `nil` if the text is not the canonical base64 of its bytes. Padding may be absent, as
    /// RFC 9651 §4.2.7 recommends, but not too long, and the unused bits of the last digit must be zero (RFC 4648
    /// §3.5). If two texts had the same bytes, a request could be replayed with another text of its nonce.
    package static func decoded(_ text: String) -> [UInt8]? { withBytes(of: text.utf8, decoded) }

    /// Decodes a text by the rules of the function for `String`.
    static func decoded(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        let equals = UInt8(ascii: "=")
        let count = text.firstIndex(of: equals) ?? text.count
        let found = text.count - count
        guard found == 0 || found == padding(after: count * 3 / 4 % 3), text[count...].allSatisfy({ $0 == equals })
        else { return nil }
        return bytes(of: UnsafeBufferPointer(rebasing: text[..<count]), by: values)
    }

    /// Returns bytes in base64url without padding (RFC 4648 §5).
    package static func encodedForURL(_ bytes: some Sequence<UInt8>) -> String {
        withBytes(of: bytes) { bytes in
            String(upTo: encodedCount(bytes.count)) { append(bytes, from: digitsForURL, isPadded: false, to: &$0) }
        }
    }

    /// Decodes base64url without padding (RFC 4648 §5). Returns `nil` for any other text.
    package static func decodedForURL(_ text: some StringProtocol) -> [UInt8]? {
        withBytes(of: text.utf8) { bytes(of: $0, by: valuesForURL) }
    }

    private static func withBytes<Value>(
        of bytes: some Sequence<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Value
    ) -> Value {
        bytes.withContiguousStorageIfAvailable(body) ?? Array(bytes).withUnsafeBufferPointer(body)
    }

    private static func append(
        _ bytes: UnsafeBufferPointer<UInt8>, from digits: [UInt8], isPadded: Bool, to text: inout TextWriter
    ) {
        let (groups, rest) = bytes.count.quotientAndRemainder(dividingBy: 3)
        let last = rest == 0 ? 0 : isPadded ? 4 : rest + 1
        digits.withUnsafeBufferPointer { digits in
            text.append(count: 4 * groups + last) { text in
                for group in 0..<groups {
                    let (first, second, third) = (bytes[3 * group], bytes[3 * group + 1], bytes[3 * group + 2])
                    text[4 * group] = digits[Int(first >> 2)]
                    text[4 * group + 1] = digits[Int(first << 4 & 0x30 | second >> 4)]
                    text[4 * group + 2] = digits[Int(second << 2 & 0x3C | third >> 6)]
                    text[4 * group + 3] = digits[Int(third & 0x3F)]
                }
                guard rest > 0 else { return }
                let (first, second) = (bytes[3 * groups], rest > 1 ? bytes[3 * groups + 1] : 0)
                text[4 * groups] = digits[Int(first >> 2)]
                text[4 * groups + 1] = digits[Int(first << 4 & 0x30 | second >> 4)]
                if rest > 1 { text[4 * groups + 2] = digits[Int(second << 2 & 0x3C)] }
                for index in (rest + 1)..<last { text[4 * groups + index] = UInt8(ascii: "=") }
            }
        }
    }

    /// Returns the bytes of digits without padding. Returns `nil` if a digit is invalid, or unused bits of the last
    /// digit are not zero.
    private static func bytes(of digits: UnsafeBufferPointer<UInt8>, by values: [UInt8]) -> [UInt8]? {
        if digits.count % 4 == 1 { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count * 3 / 4)
        var (bits, pending) = (0 as UInt32, 0)
        for digit in digits {
            let value = values[Int(digit)]
            guard value < 64 else { return nil }
            bits = bits << 6 | UInt32(value)
            pending += 6
            if pending >= 8 {
                pending -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> pending))
            }
        }
        return bits & (1 << pending - 1) == 0 ? bytes : nil
    }

    /// Returns the number of padding characters after `remainder` bytes in the last group.
    private static func padding(after remainder: Int) -> Int { remainder == 0 ? 0 : 3 - remainder }

    private static let digits = alphabet(endingIn: "+/")
    private static let digitsForURL = alphabet(endingIn: "-_")
    private static let values = table(of: digits)
    private static let valuesForURL = table(of: digitsForURL)

    private static func alphabet(endingIn last: String) -> [UInt8] {
        Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\(last)".utf8)
    }

    /// Returns a table with the value of each byte as a digit; 255 for a byte that is not a digit.
    private static func table(of digits: [UInt8]) -> [UInt8] {
        var values = Array(repeating: UInt8.max, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }
}
