/// The intermediaries that a message passed, as `Via` names them (RFC 9110 §7.6.3).
enum ViaField {
    /// Returns the recipient of the message in each step: a host with its port, or a pseudonym, in lower case.
    ///
    /// An element of the list is a protocol, a recipient and perhaps a comment, with any blanks between them.
    static func recipients(of values: [String]) -> [String] {
        values.flatMap { withoutComments($0).split(separator: ",") }.compactMap { element in
            let words = element.split { $0 == " " || $0 == "\t" }
            return words.count > 1 ? words[1].lowercased() : nil
        }
    }

    /// The value with a blank in place of every comment, which may contain others, and escaped parentheses (RFC 9110
    /// §5.6.5). An unclosed parenthesis opens no comment, and hides nothing.
    private static func withoutComments(_ value: String) -> String {
        var outer: [UInt8] = []
        /// The bytes since the outermost comment began.
        var comment: [UInt8] = []
        var depth = 0
        var isEscaped = false
        for byte in value.utf8 {
            if depth == 0, byte != UInt8(ascii: "(") {
                outer.append(byte)
                continue
            }
            comment.append(byte)
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "(") {
                depth += 1
            } else if byte == UInt8(ascii: ")") {
                depth -= 1
                guard depth == 0 else { continue }
                outer.append(0x20)
                comment = []
            }
        }
        return String(decoding: outer + comment, as: UTF8.self)
    }
}
