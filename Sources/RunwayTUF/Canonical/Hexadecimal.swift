import Crypto

/// Bytes as lower-case hexadecimal digits, the form of signatures, keys and hashes in metadata.
package enum Hexadecimal {
    /// Returns the digits of bytes.
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Returns the bytes of digits; `nil` if a character is no lower-case digit, or if the number of digits is odd.
    package static func bytes(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count / 2)
        var high: UInt8?
        for character in text.utf8 {
            guard let value = value(of: character) else { return nil }
            if let first = high { bytes.append(first << 4 | value) }
            high = high == nil ? value : nil
        }
        return high == nil ? bytes : nil
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    /// Returns the SHA-256 digest of bytes as digits.
    package static func sha256(_ bytes: [UInt8]) -> String { text(SHA256.hash(data: bytes)) }

    private static let digits = Array("0123456789abcdef".utf8)
}
