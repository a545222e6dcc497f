import Crypto

/// Computes `H(secret ‖ LF ‖ hex(H(secret ‖ LF ‖ text)))`. The second round prevents length extension without the
/// secret.
enum SaltedHash {
    static func value(of text: [UInt8], secret: SymmetricKey, by algorithm: SignatureAlgorithm) -> [UInt8] {
        let isMD5 = algorithm == .saltedMD5
        let inner = isMD5 ? round(Insecure.MD5.self, secret, text) : round(SHA256.self, secret, text)
        let hex = Hex.encoded(inner)
        return isMD5 ? round(Insecure.MD5.self, secret, hex) : round(SHA256.self, secret, hex)
    }

    /// Returns whether a hash is the one of the text and the secret. Compares the two hashes in constant time.
    static func isValid(
        _ value: [UInt8], of text: [UInt8], secret: SymmetricKey, by algorithm: SignatureAlgorithm
    ) -> Bool {
        ConstantTime.areEqual(value, self.value(of: text, secret: secret, by: algorithm))
    }

    private static func round<H: HashFunction>(_ hash: H.Type, _ secret: SymmetricKey, _ text: [UInt8]) -> [UInt8] {
        var hasher = H()
        secret.withUnsafeBytes { hasher.update(bufferPointer: $0) }
        hasher.update(data: [UInt8(ascii: "\n")])
        hasher.update(data: text)
        return Array(hasher.finalize())
    }
}

package enum Hex {
    /// Returns two lowercase hexadecimal digits for each byte.
    package static func encoded(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return text
    }

    /// Decodes hexadecimal digits. Returns `nil` if the text has an odd length or characters other than lowercase
    /// hexadecimal digits.
    static func decoded(_ text: Substring) -> [UInt8]? {
        let values = text.utf8.map { digits.firstIndex(of: $0) }
        guard values.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: values.count, by: 2) {
            guard let high = values[index], let low = values[index + 1] else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }

    private static let digits = Array("0123456789abcdef".utf8)
}
