/// Writes bytes, which need not be JSON, as one line of text and masks the text after secret names.
///
/// The structure of the bytes is unknown: a quotation mark may begin or end a string. Names are therefore recognised
/// backwards from each `:`, `=` and `>`: the preceding bytes show whether a secret name ends there.
struct RedactedLine {
    private let redaction: JSONRedaction
    private let bytes: [UInt8]
    /// The position of the first byte that cannot occur in a URL-encoded form.
    private let formEnd: Int
    private var place = 0
    private var output: [UInt8] = []

    init(redaction: JSONRedaction, bytes: [UInt8]) {
        self.redaction = redaction
        self.bytes = bytes
        formEnd = bytes.firstIndex { $0.isBlank || $0.isQuote || "{[<".utf8.contains($0) } ?? bytes.count
    }

    mutating func text(maximumByteCount: Int) -> String {
        while place < bytes.count, output.count <= maximumByteCount {
            let byte = bytes[place]
            if byte == UInt8(ascii: ":") || byte == UInt8(ascii: "=") {
                let name = SecretName(before: place, in: bytes, formEnd: formEnd)
                if name.isSecret(by: redaction) {
                    copySeparator()
                    let value = SecretValue(bytes: bytes, isForm: name.isForm, isLine: name.isLine, after: byte)
                    place = value.end(from: place)
                    output += "\"\(JSONRedaction.mask)\"".utf8
                    continue
                }
            } else if byte == UInt8(ascii: ">"), let tag = SecretName.tag(before: place, in: bytes, by: redaction) {
                output.append(byte)
                output += JSONRedaction.mask.utf8
                place = SecretValue.endOfElement(tag, in: bytes, from: place + 1)
                continue
            }
            output.append(byte)
            place += 1
        }
        let isCut = place < bytes.count || output.count > maximumByteCount
        if output.count > maximumByteCount { cut(to: maximumByteCount) }
        let line = output.map { $0 < 0x20 || $0 == 0x7F ? 0x20 : $0 }
        return String(decoding: line, as: UTF8.self) + (isCut ? "…" : "")
    }

    /// Truncates the output without splitting a UTF-8 sequence.
    private mutating func cut(to count: Int) {
        var end = count
        while end > 0, output[end] & 0xC0 == 0x80 { end -= 1 }
        output.removeSubrange(end...)
    }

    /// Copies `:`, `=`, `=>` and the spaces before the value.
    private mutating func copySeparator() {
        while place < bytes.count, bytes[place].isBlank || ":=>".utf8.contains(bytes[place]) {
            output.append(bytes[place])
            place += 1
        }
    }
}

extension UInt8 {
    var isBlank: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
    var isQuote: Bool { self == UInt8(ascii: "\"") || self == UInt8(ascii: "'") }
}
