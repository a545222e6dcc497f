import Crypto

/// Bytes as lower-case hexadecimal digits, the form of signatures, keys and hashes in metadata.
package enum Hexadecimal {
    /// Returns the digits of bytes.
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Returns the bytes of digits; `nil` if a character is no lower-case digit, or if the number of digits is odd.
    package static func bytes(_ text: String) -> [UInt8]? {
        let values = text.utf8.compactMap { digits.firstIndex(of: $0) }
        guard values.count == text.utf8.count, values.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }

    /// Returns the SHA-256 digest of bytes as digits.
    package static func sha256(_ bytes: [UInt8]) -> String { text(SHA256.hash(data: bytes)) }

    private static let digits = Array("0123456789abcdef".utf8)
}
