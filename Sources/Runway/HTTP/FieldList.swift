/// Parses lists in field values (RFC 9110 §5.6.1). It tolerates errors and takes linear time.
enum FieldList {
    /// The maximum number of seconds. Larger numbers are replaced by it (RFC 9111 §1.2.2).
    static var maximumSeconds: Int64 { 1 << 31 }

    /// Returns the elements between commas, without surrounding whitespace. Commas in quoted strings do not separate,
    /// and empty elements are omitted.
    static func elements(of value: some StringProtocol) -> [Substring] {
        let text = Substring(value)
        var elements: [Substring] = []
        var start = text.startIndex
        var position = start
        // After one unterminated string, later quotation marks are read as plain characters.
        var endsStrings = true
        let bytes = text.utf8
        func close(at end: Substring.Index) {
            let element = text[start..<end].trimmingWhitespace
            if !element.isEmpty { elements.append(element) }
        }
        while position < bytes.endIndex {
            switch bytes[position] {
            case 0x2C:
                close(at: position)
                start = bytes.index(after: position)
                position = start
            case 0x22 where endsStrings:
                if let end = endOfString(from: position, in: bytes) {
                    position = end
                } else {
                    endsStrings = false
                    position = bytes.index(after: position)
                }
            default:
                position = bytes.index(after: position)
            }
        }
        close(at: bytes.endIndex)
        return elements
    }

    /// Returns the content of a quoted string, or `nil` if the text is not exactly one quoted string.
    static func unquoted(_ text: Substring) -> String? {
        let bytes = text.utf8
        guard bytes.first == 0x22, endOfString(from: bytes.startIndex, in: bytes) == bytes.endIndex else { return nil }
        var content: [UInt8] = []
        var isEscaped = false
        for byte in bytes.dropFirst().dropLast() {
            if byte == 0x5C, !isEscaped {
                isEscaped = true
            } else {
                content.append(byte)
                isEscaped = false
            }
        }
        return String(decoding: content, as: UTF8.self)
    }

    /// Parses a number of seconds (RFC 9111 §1.2.2). Returns `nil` if the text contains anything except digits. Larger
    /// numbers are reduced to ``maximumSeconds``.
    static func seconds(_ text: some StringProtocol) -> Duration? {
        guard !text.isEmpty else { return nil }
        var value: Int64 = 0
        for byte in text.utf8 {
            guard (0x30...0x39).contains(byte) else { return nil }
            value = min(value * 10 + Int64(byte - 0x30), maximumSeconds)
        }
        return .seconds(value)
    }

    /// Returns the position after the quoted string that begins at `start`, or `nil` if the string is unterminated.
    private static func endOfString(from start: Substring.Index, in bytes: Substring.UTF8View) -> Substring.Index? {
        var position = bytes.index(after: start)
        while position < bytes.endIndex {
            let byte = bytes[position]
            position = bytes.index(after: position)
            if byte == 0x22 { return position }
            if byte == 0x5C {
                guard position < bytes.endIndex else { return nil }
                position = bytes.index(after: position)
            }
        }
        return nil
    }
}

extension Substring {
    /// The text without leading and trailing spaces and tabs.
    var trimmingWhitespace: Substring {
        var bytes = utf8
        while let first = bytes.first, first == 0x20 || first == 0x09 { bytes = bytes.dropFirst() }
        while let last = bytes.last, last == 0x20 || last == 0x09 { bytes = bytes.dropLast() }
        return Substring(bytes)
    }
}

extension UInt8 {
    /// Whether a token may contain this byte (RFC 9110 §5.6.2).
    var isTokenByte: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23, 0x24, 0x25, 0x26, 0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
        default: false
        }
    }
}
