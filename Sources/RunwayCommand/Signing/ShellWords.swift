/// Splits a command line into words like a POSIX shell, but without expansions.
///
/// Quotes, backslashes and `$'…'`, which browsers write, are resolved. Variables and command substitutions are errors:
/// a shell would replace them, so the request would differ from the one that was sent.
enum ShellWords {
    /// - Throws: ``CommandFailure`` if a quotation mark is not closed, or a shell would expand a part of the text.
    static func split(_ line: String) throws(CommandFailure) -> [String] {
        var scanner = Scanner(rest: line.unicodeScalars[...])
        return try scanner.words()
    }

    private struct Scanner {
        var rest: Substring.UnicodeScalarView
        private var word: String.UnicodeScalarView?

        init(rest: Substring.UnicodeScalarView) { self.rest = rest }

        mutating func words() throws(CommandFailure) -> [String] {
            var words: [String] = []
            while let scalar = rest.popFirst() {
                switch scalar {
                case " ", "\t", "\n", "\r":
                    if let word { words.append(String(word)) }
                    word = nil
                case "'": append(try upTo("'"))
                case "\"": try readDoubleQuotes()
                case "$" where rest.first == "'":
                    rest.removeFirst()
                    try readANSIQuotes()
                case "\\":
                    // A backslash before a line end continues the line.
                    if rest.first == "\r" { rest.removeFirst() }
                    guard let next = rest.popFirst(), next != "\n" else { continue }
                    append([next])
                case "$", "`": throw Self.replaced
                case "|", ";", "&", "<", ">", "(", ")": throw Self.operatorFound(scalar)
                default: append([scalar])
                }
            }
            if let word { words.append(String(word)) }
            return words
        }

        private mutating func append(_ scalars: some Sequence<Unicode.Scalar>) {
            var longer = word ?? String.UnicodeScalarView()
            longer.append(contentsOf: scalars)
            word = longer
        }

        private mutating func upTo(_ end: Unicode.Scalar) throws(CommandFailure) -> Substring.UnicodeScalarView {
            guard let index = rest.firstIndex(of: end) else { throw Self.open }
            defer { rest = rest[index...].dropFirst() }
            return rest[..<index]
        }

        private mutating func readDoubleQuotes() throws(CommandFailure) {
            append([])
            while let scalar = rest.popFirst() {
                switch scalar {
                case "\"": return
                case "$", "`": throw Self.replaced
                case "\\":
                    guard let next = rest.popFirst() else { throw Self.open }
                    if next == "\n" { continue }
                    append("\"\\$`".unicodeScalars.contains(next) ? [next] : [scalar, next])
                default: append([scalar])
                }
            }
            throw Self.open
        }

        /// Reads `$'…'` (POSIX.1-2024 §2.2.4).
        private mutating func readANSIQuotes() throws(CommandFailure) {
            append([])
            while let scalar = rest.popFirst() {
                if scalar == "'" { return }
                guard scalar == "\\" else {
                    append([scalar])
                    continue
                }
                guard let next = rest.popFirst() else { throw Self.open }
                switch next {
                case "n": append(["\n"])
                case "r": append(["\r"])
                case "t": append(["\t"])
                case "x": append([try hexadecimal(2)])
                case "u": append([try hexadecimal(4)])
                case "U": append([try hexadecimal(8)])
                case "'", "\"", "\\", "?": append([next])
                default: throw CommandFailure("The command line has \"\\\(next)\" in $'…', which is not supported.")
                }
            }
            throw Self.open
        }

        private mutating func hexadecimal(_ count: Int) throws(CommandFailure) -> Unicode.Scalar {
            let digits = rest.prefix(count).prefix { $0.properties.isASCIIHexDigit }
            // Above 7F, `\x` denotes a byte and not a character.
            guard let value = UInt32(String(String.UnicodeScalarView(digits)), radix: 16), count != 2 || value < 0x80,
                let scalar = Unicode.Scalar(value)
            else { throw CommandFailure("The command line has a number in $'…' that is no character.") }
            rest = rest[digits.endIndex...]
            return scalar
        }

        private static let open = CommandFailure("The command line has a quotation mark that is not closed.")
        private static let replaced = CommandFailure(
            "The command line has \"$\" or \"`\", which a shell would replace; write what it stands for.")

        private static func operatorFound(_ scalar: Unicode.Scalar) -> CommandFailure {
            CommandFailure("The command line has \"\(scalar)\" outside of quotes; it must be one curl command alone.")
        }
    }
}
