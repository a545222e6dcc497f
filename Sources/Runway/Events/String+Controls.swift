extension String {
    /// The text in one line, with control characters as `\u{A}`: text from a server can't add lines to a log.
    package var oneLine: String {
        escapingControls { _, _ in
            true
        } as: {
            "\\u{\(String($0.value, radix: 16, uppercase: true))}"
        }
    }

    /// The text as a terminal can show it safely, with control characters as `\u001B`; line feeds, CRLF and tabs stay.
    ///
    /// JSON uses the same escapes, so JSON stays the same JSON.
    package var terminalText: String {
        escapingControls { scalar, next in
            scalar != "\n" && scalar != "\t" && !(scalar == "\r" && next == "\n")
        } as: { scalar in
            let digits = String(scalar.value, radix: 16, uppercase: true)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }

    /// Returns the text with the control characters escaped for which `isEscaped` returns `true`; it also receives the
    /// next character.
    private func escapingControls(
        where isEscaped: (_ scalar: Unicode.Scalar, _ next: Unicode.Scalar?) -> Bool,
        as escape: (Unicode.Scalar) -> String
    ) -> String {
        // Most texts need no change, and are not copied.
        if !unicodeScalars.contains(where: \.isControl) { return self }
        var text = ""
        // "\r\n" is one character, and two scalars.
        var rest = unicodeScalars[...]
        while let scalar = rest.popFirst() {
            if scalar.isControl, isEscaped(scalar, rest.first) {
                text += escape(scalar)
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

extension Unicode.Scalar {
    /// Whether a terminal may act on this character, or show the text after it in another order or line. These are
    /// control characters, separators of lines and paragraphs (the categories Cc, Zl and Zp of Unicode), and characters
    /// that set the direction of text (UAX #9 §2). All are below U+10000.
    fileprivate var isControl: Bool {
        switch value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: true
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
