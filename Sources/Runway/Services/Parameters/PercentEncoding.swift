/// Percent-encoding by RFC 3986 §2.1, of the UTF-8 bytes of a text.
enum PercentEncoding {
    /// The unreserved characters of RFC 3986 §2.3: letters, digits and `-._~`.
    static let unreserved = Allowed("-._~")
    /// What may stand in a path besides its values: `pchar`, `/`, and percent signs of what is encoded already.
    static let path = Allowed("-._~!$&'()*+,;=:@/%")

    /// A set of ASCII bytes: letters, digits and the ones named.
    struct Allowed: Sendable {
        private var low: UInt64 = 0
        private var high: UInt64 = 0

        init(_ punctuation: StaticString) {
            for byte in 0..<UInt8(128) {
                let isNamed = punctuation.withUTF8Buffer { $0.contains(byte) }
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    insert(byte)
                default:
                    if isNamed { insert(byte) }
                }
            }
        }

        private mutating func insert(_ byte: UInt8) {
            if byte < 64 { low |= 1 << byte } else { high |= 1 << (byte - 64) }
        }

        func contains(_ byte: UInt8) -> Bool {
            if byte < 64 { return low & (1 << byte) != 0 }
            return byte < 128 && high & (1 << (byte - 64)) != 0
        }
    }
}

extension String {
    /// This text, with every byte outside `allowed` as `%XX` in upper case (RFC 3986 §2.1).
    func percentEncoded(allowing allowed: PercentEncoding.Allowed) -> String {
        // Most texts need nothing, and are not copied.
        if consists(of: allowed) { return self }
        var encoded = ""
        encoded.appendPercentEncoded(self, allowing: allowed)
        return encoded
    }

    private func consists(of allowed: PercentEncoding.Allowed) -> Bool {
        utf8.withContiguousStorageIfAvailable { $0.allSatisfy(allowed.contains) } ?? utf8.allSatisfy(allowed.contains)
    }

    /// Texts one after the other. They are copied once, to where they stay.
    init(joining parts: [String]) {
        self.init(unsafeUninitializedCapacity: parts.reduce(0) { $0 + $1.utf8.count }) { buffer in
            var count = 0
            for part in parts {
                var part = part
                count += part.withUTF8 { bytes in
                    _ = UnsafeMutableBufferPointer(rebasing: buffer[count...]).initialize(fromContentsOf: bytes)
                    return bytes.count
                }
            }
            return count
        }
    }

    /// Adds `text`, with every byte outside `allowed` as `%XX` in upper case (RFC 3986 §2.1).
    mutating func appendPercentEncoded(_ text: String, allowing allowed: PercentEncoding.Allowed) {
        if text.consists(of: allowed) {
            append(text)
            return
        }
        let utf8 = text.utf8
        let digits = Array("0123456789ABCDEF".unicodeScalars)
        for byte in utf8 {
            if allowed.contains(byte) {
                unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                unicodeScalars.append("%")
                unicodeScalars.append(digits[Int(byte >> 4)])
                unicodeScalars.append(digits[Int(byte & 15)])
            }
        }
    }
}
