/// Finds the end of a secret value in bytes that need not be JSON. In doubt, it chooses a later end: masking too much
/// is better than masking too little.
struct SecretValue {
    let bytes: [UInt8]
    /// Whether the name is in a form, where only `&` ends the value.
    let isForm: Bool
    /// Whether the name begins a line. If so, the end of the line ends the value.
    let isLine: Bool
    /// The `:` or `=` after the name.
    let after: UInt8

    func end(from start: Int) -> Int {
        guard start < bytes.count else { return start }
        if isForm, after == UInt8(ascii: "=") { return endOfBare(start) { $0 == UInt8(ascii: "&") } }
        let quote = bytes[start...].firstIndex { $0 != UInt8(ascii: "\\") } ?? start
        if quote < bytes.count, bytes[quote].isQuote { return endOfString(quote, escapes: quote - start) }
        if bytes[start] == UInt8(ascii: "{") || bytes[start] == UInt8(ascii: "[") { return endOfContainer(start) }
        if isLine { return endOfBare(start) { $0 == 0x0A } }
        if after == UInt8(ascii: "=") {
            return endOfBare(start) { $0.isBlank || $0.isQuote || "&<>,;)}]".utf8.contains($0) }
        }
        return endOfBare(start) { $0 == 0x0A || ",}]<".utf8.contains($0) }
    }

    private func endOfBare(_ start: Int, _ isEnd: (UInt8) -> Bool) -> Int {
        bytes[start...].firstIndex(where: isEnd) ?? bytes.count
    }

    /// Returns the position after a string whose opening quotation mark follows `escapes` backslashes. A string inside
    /// a JSON string has one backslash before each quotation mark; a string nested in that string has three.
    private func endOfString(_ quote: Int, escapes: Int) -> Int {
        var place = quote + 1
        var solidi = 0
        while place < bytes.count {
            if bytes[place] == bytes[quote], solidi % (2 * (escapes + 1)) == escapes { return place + 1 }
            solidi = bytes[place] == UInt8(ascii: "\\") ? solidi + 1 : 0
            place += 1
        }
        return place
    }

    private func endOfContainer(_ start: Int) -> Int {
        var depth = 0
        var place = start
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                place = endOfString(place, escapes: 0)
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth == 0 { return place + 1 }
            default: break
            }
            place += 1
        }
        return place
    }

    /// Returns the position of the closing tag of an XML element, or the end of the bytes if the element has no closing
    /// tag.
    static func endOfElement(_ name: ArraySlice<UInt8>, in bytes: [UInt8], from start: Int) -> Int {
        let closing = Array("</".utf8) + name
        var place = start
        while let next = bytes[place...].firstIndex(of: UInt8(ascii: "<")) {
            if bytes[next...].starts(with: closing) { return next }
            place = next + 1
        }
        return bytes.count
    }
}
