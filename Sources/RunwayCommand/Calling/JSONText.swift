/// Formats valid JSON for a person: indented by two spaces, and coloured on request.
///
/// Strings and numbers are unchanged, except for control characters on a terminal. The output is written in parts, so
/// that a large document does not fill the memory.
struct JSONText {
    /// The number of bytes that are collected for one write.
    private static let partByteCount = 1 << 16
    /// The number of levels that increase the indentation. With unlimited indentation, the output would grow with the
    /// square of the depth.
    private static let maximumIndentation = 32

    private let console: Console
    private var output: [UInt8] = []
    /// One value per open container: `true` for an object, `false` for an array.
    private var openObjects: [Bool] = []
    private var isName = false

    init(for console: Console) { self.console = console }

    /// Writes a document and a line feed.
    ///
    /// - Parameter json: The bytes of one JSON value that was validated before.
    /// - Throws: The errors of `Console.write`.
    mutating func write(_ json: ArraySlice<UInt8>) throws {
        var rest = json
        while let byte = rest.first {
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["): open(byte, &rest)
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                openObjects.removeLast()
                rest.removeFirst()
                newLine()
                output.append(byte)
            case UInt8(ascii: ","):
                rest.removeFirst()
                output.append(byte)
                newLine()
                isName = openObjects.last == true
            case UInt8(ascii: ":"):
                rest.removeFirst()
                output += ": ".utf8
                isName = false
            case 0x20, 0x09, 0x0A, 0x0D: rest.removeFirst()
            case UInt8(ascii: "\""): append(Self.string(&rest), isName ? .blue : .green)
            default:
                let isNumber = byte == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                append(Self.word(&rest), isNumber ? .cyan : .magenta)
            }
            if output.count >= Self.partByteCount { try flush() }
        }
        output.append(0x0A)
        try flush()
    }

    private mutating func flush() throws {
        try console.write(output)
        output.removeAll(keepingCapacity: true)
    }

    private mutating func open(_ byte: UInt8, _ rest: inout ArraySlice<UInt8>) {
        output.append(byte)
        rest.removeFirst()
        rest = rest.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
        // In ASCII the code of a closing bracket or brace is the opening one's plus two.
        if rest.first == byte + 2 {
            output.append(byte + 2)
            rest.removeFirst()
            return
        }
        openObjects.append(byte == UInt8(ascii: "{"))
        isName = openObjects.last == true
        newLine()
    }

    private mutating func newLine() {
        output.append(0x0A)
        output += repeatElement(0x20, count: 2 * min(openObjects.count, Self.maximumIndentation))
    }

    private mutating func append(_ bytes: ArraySlice<UInt8>, _ style: Console.Style) {
        guard console.escapesControls || console.usesColour else {
            output += bytes
            return
        }
        output += ConsoleText(String(decoding: bytes, as: UTF8.self), style, for: console).rendered.utf8
    }

    /// Removes a string, with its quotation marks, from the beginning of `rest` and returns it.
    private static func string(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var end = rest.startIndex + 1
        while end < rest.endIndex, rest[end] != UInt8(ascii: "\"") { end += rest[end] == UInt8(ascii: "\\") ? 2 : 1 }
        end = min(end + 1, rest.endIndex)
        defer { rest = rest[end...] }
        return rest[..<end]
    }

    /// Removes a number or literal from the beginning of `rest` and returns it.
    private static func word(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let word = rest.prefix { !",:]}\" \t\r\n".utf8.contains($0) }
        rest = rest[word.endIndex...]
        return word
    }
}
