extension String {
    /// The text in one line. Control characters are escaped like `\u{A}`, so text from a server can't add lines to a
    /// log.
    package var oneLine: String {
        escapingControls { _, _ in
            true
        } as: {
            "\\u{\(String($0.value, radix: 16, uppercase: true))}"
        }
    }

    /// The text in a form that is safe for terminals. Control characters are escaped like `\u001B`; line feeds, CRLF
    /// and tabs remain.
    ///
    /// JSON uses the same escapes, so the meaning of JSON does not change.
    package var terminalText: String {
        escapingControls { scalar, next in
            scalar != "\n" && scalar != "\t" && !(scalar == "\r" && next == "\n")
        } as: { scalar in
            let digits = String(scalar.value, radix: 16, uppercase: true)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }

    /// Returns the text with some control characters escaped. `isEscaped` receives a control character and the next
    /// character, and decides.
    private func escapingControls(
        where isEscaped: (_ scalar: Unicode.Scalar, _ next: Unicode.Scalar?) -> Bool,
        as escape: (Unicode.Scalar) -> String
    ) -> String {
        // Most texts need no change and are returned without a copy.
        if !unicodeScalars.contains(where: \.isControl) { return self }
        var text = ""
        // "\r\n" is one character but two scalars.
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
    /// Whether a terminal may interpret this character, or reorder or break text because of it. These are control
    /// characters, line and paragraph separators (Unicode categories Cc, Zl and Zp), and characters that set the text
    /// direction (UAX #9 §2). All are below U+10000.
    fileprivate var isControl: Bool {
        switch value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: true
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
