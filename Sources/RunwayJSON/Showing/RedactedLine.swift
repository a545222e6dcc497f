/// One line of text from bytes that need not be JSON, with what follows a secret name masked.
struct RedactedLine {
    private let redaction: JSONRedaction
    private let bytes: [UInt8]
    private var place = 0
    private var output: [UInt8] = []

    init(redaction: JSONRedaction, bytes: [UInt8]) {
        self.redaction = redaction
        self.bytes = bytes
    }

    mutating func text(maximumByteCount: Int) -> String {
        while place < bytes.count, output.count <= maximumByteCount {
            guard bytes[place] == UInt8(ascii: "\"") else {
                output.append(bytes[place])
                place += 1
                continue
            }
            let start = place
            skipString()
            output += bytes[start..<place]
            if isName(start), redaction.isSecret(name(start..<place)) {
                copyColon()
                skipValue()
                output += "\"\(JSONRedaction.mask)\"".utf8
            }
        }
        let isCut = place < bytes.count || output.count > maximumByteCount
        if output.count > maximumByteCount { cut(to: maximumByteCount) }
        let line = output.map { $0 < 0x20 || $0 == 0x7F ? 0x20 : $0 }
        return String(decoding: line, as: UTF8.self) + (isCut ? "…" : "")
    }

    /// Cuts before a sequence of UTF-8 rather than inside.
    private mutating func cut(to count: Int) {
        var end = count
        while end > 0, output[end] & 0xC0 == 0x80 { end -= 1 }
        output.removeSubrange(end...)
    }

    private mutating func skipString() {
        place += 1
        while place < bytes.count {
            let byte = bytes[place]
            place += byte == UInt8(ascii: "\\") ? 2 : 1
            if byte == UInt8(ascii: "\"") { break }
        }
        place = min(place, bytes.count)
    }

    /// Whether a colon follows the string that was just gone past.
    private func isName(_ start: Int) -> Bool {
        bytes[place...].first { !Self.isBlank($0) } == UInt8(ascii: ":")
    }

    private func name(_ range: Range<Int>) -> String {
        if let text = try? JSONDocument(Array(bytes[range])).root.string { return text }
        return String(decoding: bytes[range].dropFirst().dropLast(), as: UTF8.self)
    }

    private mutating func copyColon() {
        while place < bytes.count, Self.isBlank(bytes[place]) || bytes[place] == UInt8(ascii: ":") {
            output.append(bytes[place])
            place += 1
        }
    }

    /// Goes past a value by its look: a string, what brackets enclose, or everything up to a comma or bracket.
    private mutating func skipValue() {
        var depth = 0
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "\""):
                skipString()
                if depth == 0 { return }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return }
                depth -= 1
                if depth == 0 {
                    place += 1
                    return
                }
            case UInt8(ascii: ","):
                if depth == 0 { return }
            default: break
            }
            place += 1
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
