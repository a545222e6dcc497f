package enum PercentEncoding {
    /// The unreserved characters of RFC 3986 §2.3: letters, digits and `-._~`.
    static let unreserved = Allowed("-._~")
    /// The characters that are allowed in the literal parts of a path: `pchar`, `/`, and the percent signs of escapes.
    static let path = Allowed("-._~!$&'()*+,;=:@/%")
    /// The path characters that need no escape and belong to no delimiter, escape or dot segment.
    static let plainPath = Allowed("-_~/")
    /// The characters that are allowed unescaped in a path or a query (RFC 3986 §3.3, §3.4).
    static let target = Allowed("-._~!$&'()*+,;=:@/?")
    /// The allowed characters, the percent sign, and characters that browsers do not escape in a path or a query.
    static let received = Allowed("-._~!$&'()*+,;=:@/?%[]{}|^`\\")

    /// A set of ASCII characters: letters, digits and the characters that are passed.
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

extension PercentEncoding {
    /// Returns a path and query in which invalid octets, and percent signs that begin no escape, are percent-encoded.
    /// Existing escapes are unchanged (RFC 3986 §2.4).
    static func target(_ octets: ArraySlice<UInt8>) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var escaped: [UInt8] = []
        escaped.reserveCapacity(octets.count + 16)
        for (index, byte) in zip(octets.indices, octets) {
            if target.contains(byte) || octet(at: index, in: octets) != nil {
                escaped.append(byte)
            } else {
                escaped += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    /// Decodes escapes. A percent sign that begins no escape is unchanged.
    package static func decoded(_ octets: ArraySlice<UInt8>) -> [UInt8] {
        var decoded: [UInt8] = []
        var index = octets.startIndex
        while index < octets.endIndex {
            let octet = octet(at: index, in: octets)
            decoded.append(octet ?? octets[index])
            index += octet == nil ? 1 : 3
        }
        return decoded
    }

    /// Returns the octet that the escape at an index encodes (RFC 3986 §2.1), or `nil` if no escape begins there.
    static func octet(at index: Int, in octets: ArraySlice<UInt8>) -> UInt8? {
        guard octets[index] == UInt8(ascii: "%"), octets.endIndex - index > 2,
            let high = hexValue(octets[index + 1]), let low = hexValue(octets[index + 2])
        else { return nil }
        return high << 4 | low
    }

    private static func hexValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

extension String {
    /// Returns the text with every byte outside `allowed` percent-encoded in upper case (RFC 3986 §2.1).
    func percentEncoded(allowing allowed: PercentEncoding.Allowed) -> String {
        // Most texts need no change and are returned without a copy.
        if consists(of: allowed) { return self }
        var encoded = ""
        encoded.appendPercentEncoded(self, allowing: allowed)
        return encoded
    }

    func consists(of allowed: PercentEncoding.Allowed) -> Bool {
        utf8.withContiguousStorageIfAvailable { $0.allSatisfy(allowed.contains) } ?? utf8.allSatisfy(allowed.contains)
    }

    /// Joins texts, and copies each only once.
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

    /// Appends `text` with every byte outside `allowed` percent-encoded in upper case (RFC 3986 §2.1).
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
