/// Parses and writes queries in the format of HTML forms, as RFC 9421 §2.2.8 requires.
enum FormEncoding {
    /// The maximum number of parameters in a query or form.
    private static let maximumParameters = 4_096

    /// Throws a ``SignatureError`` if the text has more than 4,096 parameters.
    static func checkCount(of text: some Collection<UInt8>) throws(SignatureError) {
        guard text.count(where: { $0 == UInt8(ascii: "&") }) < maximumParameters else {
            throw SignatureError(.tooLarge, "the number of parameters")
        }
    }

    /// Returns the parameters of a query in order, with names and values decoded and encoded again. The query is passed
    /// without its question mark. Throws a ``SignatureError`` if it has too many parameters.
    ///
    /// Names and values are decoded by "application/x-www-form-urlencoded parsing" of the URL Standard §5.1.
    static func parameters(of query: Substring.UTF8View) throws(SignatureError) -> [(name: String, value: String)] {
        try checkCount(of: query)
        return query.split(separator: UInt8(ascii: "&")).map { pair in
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return (encoded(decoded(parts[0])), parts.count == 2 ? encoded(decoded(parts[1])) : "")
        }
    }

    /// Percent-encodes all bytes except ASCII letters, digits, `*`, `-`, `.` and `_`; a space becomes `%20` (URL
    /// Standard §5.2).
    static func encoded(_ bytes: [UInt8]) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        // Invalid UTF-8 becomes the replacement character, as in the URL Standard.
        for byte in String(decoding: bytes, as: UTF8.self).utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2A, 0x2D, 0x2E, 0x5F: result.append(byte)
            default: appendPercentEncoded(byte, to: &result)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    static func appendPercentEncoded(_ byte: UInt8, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "%"))
        text.append(hexDigits[Int(byte >> 4)])
        text.append(hexDigits[Int(byte & 15)])
    }

    /// Returns the decoded bytes. A percent sign without two hexadecimal digits after it stays unchanged.
    static func decoded(_ text: some Collection<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var rest = Array(text)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "+") {
                result.append(UInt8(ascii: " "))
            } else if byte == UInt8(ascii: "%"), let value = hexByte(rest.prefix(2)) {
                result.append(value)
                rest = rest.dropFirst(2)
            } else {
                result.append(byte)
            }
        }
        return result
    }

    private static func hexByte(_ digits: ArraySlice<UInt8>) -> UInt8? {
        guard digits.count == 2 else { return nil }
        var value: UInt8 = 0
        for digit in digits {
            switch digit {
            case 0x30...0x39: value = value << 4 | (digit - 0x30)
            case 0x41...0x46: value = value << 4 | (digit - 0x41 + 10)
            case 0x61...0x66: value = value << 4 | (digit - 0x61 + 10)
            default: return nil
            }
        }
        return value
    }

    private static let hexDigits = Array("0123456789ABCDEF".utf8)
}
