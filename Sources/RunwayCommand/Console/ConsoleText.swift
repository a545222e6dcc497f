import HTTPTypes
import Runway

/// Styled text for one console. On a terminal its control characters are escaped.
struct ConsoleText {
    private let console: Console
    /// The text with escapes, ready to be written to the console.
    private(set) var rendered = ""

    /// Creates a text that starts with `text`, in `style` if the console supports styles.
    init(_ text: String = "", _ style: Console.Style? = nil, for console: Console) {
        self.console = console
        append(text, style)
    }

    /// Appends header fields, one per line.
    mutating func append(_ fields: some Sequence<HTTPField>) {
        for field in fields {
            append(field.name.rawName, .cyan)
            append(": \(field.value)\n")
        }
    }

    mutating func append(_ text: String, _ style: Console.Style? = nil) {
        let shown = console.escapesControls ? text.terminalText : text
        if let style, console.usesColour {
            rendered += "\u{1B}[\(style.rawValue)m\(shown)\u{1B}[0m"
        } else {
            rendered += shown
        }
    }
}

/// Writes a text that arrives in parts. A character may be divided between two parts.
struct ConsoleParts {
    let console: Console
    /// The bytes of an incomplete character or CRLF at the end of the last part.
    private var rest: [UInt8] = []

    init(for console: Console) { self.console = console }

    /// Writes a part of the output. A terminal receives the characters that are complete so far, as UTF-8 with control
    /// characters escaped; an incomplete one waits for the next part. A file or pipe receives the bytes unchanged.
    ///
    /// - Throws: The errors of `Console.write`.
    mutating func write(_ part: [UInt8]) throws {
        guard console.escapesControls else { return try console.write(part) }
        rest += part
        let complete = rest.dropLast(rest.incompleteByteCount)
        rest = Array(rest[complete.endIndex...])
        try console.write(String(decoding: complete, as: UTF8.self))
    }

    /// Writes the bytes that are left.
    ///
    /// - Throws: The errors of `Console.write`.
    mutating func end() throws {
        if rest.isEmpty { return }
        try console.write(String(decoding: rest, as: UTF8.self))
        rest = []
    }
}

extension [UInt8] {
    /// The number of bytes at the end that may be the start of a UTF-8 sequence or CRLF.
    fileprivate var incompleteByteCount: Int {
        if last == 0x0D { return 1 }
        guard let lead = suffix(3).lastIndex(where: { $0 & 0xC0 != 0x80 }) else { return 0 }
        let byteCount =
            switch self[lead] {
            case 0xC2...0xDF: 2
            case 0xE0...0xEF: 3
            case 0xF0...0xF4: 4
            default: 1
            }
        return count - lead < byteCount ? count - lead : 0
    }
}

/// A number of bytes, described in the unit that a person expects: bytes, kB, MB or GB. Each unit is a thousand of the
/// previous one.
struct ByteCount: CustomStringConvertible {
    let count: Int

    init(_ count: Int) { self.count = count }

    var description: String {
        if count < 1000 { return count == 1 ? "1 byte" : "\(count) bytes" }
        var value = Double(count) / 1000
        for unit in ["kB", "MB"] {
            if value < 1000 { return "\(Self.rounded(value)) \(unit)" }
            value /= 1000
        }
        return "\(Self.rounded(value)) GB"
    }

    private static func rounded(_ value: Double) -> String {
        value >= 100 ? "\(Int(value))" : "\((value * 10).rounded(.down) / 10)"
    }
}
