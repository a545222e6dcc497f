/// Decodes text whose characters take up to four bytes (WHATWG Encoding Standard §10 to §13). It divides the bytes by
/// the rules of the standard, and looks up the characters in tables of the system.
///
/// This type uses Windows' tables wherever the standard does. The tables of glibc lack about 120 rare characters of
/// Big5 and 20 of GB 18030. These become U+FFFD.
struct MultiByteText {
    enum Encoding { case gb18030, big5, shiftJIS, eucJP, eucKR }

    private let encoding: Encoding
    private let table: SystemTable
    /// A second table. For EUC-JP, the characters of JIS X 0212. For Big5, plain Big5, for the symbols that Hong Kong's
    /// table maps differently. `nil` for other encodings.
    private let second: SystemTable?
    /// The characters that were looked up before, by their bytes.
    private var known: [UInt32: String] = [:]

    /// Opens the tables. Returns `nil` if the system does not have them.
    init?(_ encoding: Encoding) {
        let name: SystemTable.Name =
            switch encoding {
            case .gb18030: .init("GB18030", 0x632)
            case .big5: .init("BIG5-HKSCS", 0xA06)
            // Both encodings contain the characters of Windows-31J, with different codes.
            case .shiftJIS, .eucJP: .init("CP932", 0x420)
            case .eucKR: .init("CP949", 0x422)
            }
        guard let table = SystemTable(name) else { return nil }
        (self.encoding, self.table) = (encoding, table)
        second =
            switch encoding {
            case .big5: SystemTable(.init("BIG5", 0xA03))
            case .eucJP: SystemTable(.init("EUC-JP", 0x920))
            default: nil
            }
    }

    /// Decodes bytes. Malformed bytes become U+FFFD.
    func text(_ bytes: [UInt8]) -> String {
        var decoder = self
        var text = ""
        text.reserveCapacity(bytes.count)
        var rest = bytes[...]
        while let byte = rest.first {
            if byte < 0x80 {
                let ascii = rest.prefix { $0 < 0x80 }
                text += String(decoding: ascii, as: UTF8.self)
                rest = rest[ascii.endIndex...]
                continue
            }
            let byteCount = decoder.byteCount(of: rest)
            let sequence = rest.prefix(byteCount)
            let character = decoder.character(sequence)
            text += character ?? "\u{FFFD}"
            // A malformed sequence must not swallow the ASCII character after it, which could be a quotation mark.
            let end = character == nil && byteCount < 4 ? sequence.dropFirst().firstIndex { $0 < 0x80 } : nil
            rest = rest[(end ?? sequence.endIndex)...]
        }
        return text
    }

    /// Returns the number of bytes of the first character, even if they are invalid.
    private func byteCount(of bytes: ArraySlice<UInt8>) -> Int {
        let (lead, next) = (bytes[bytes.startIndex], bytes.dropFirst().first ?? 0)
        return switch encoding {
        case _ where lead == 0x80 || lead == 0xFF: 1
        case .gb18030 where (0x30...0x39).contains(next):
            (0x81...0xFE).contains(bytes.dropFirst(2).first ?? 0x81)
                && (0x30...0x39).contains(bytes.dropFirst(3).first ?? 0x30) ? 4 : 1
        case .shiftJIS: (0xA0...0xDF).contains(lead) || lead > 0xFC ? 1 : 2
        case .eucJP:
            lead == 0x8F && (0xA1...0xFE).contains(next) ? 3 : lead < 0xA1 && lead != 0x8E && lead != 0x8F ? 1 : 2
        case .gb18030, .big5, .eucKR: 2
        }
    }

    /// Returns the text of one character, or `nil` if the character is malformed or undefined.
    mutating func character(_ bytes: ArraySlice<UInt8>) -> String? {
        let key = bytes.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        if let text = known[key] { return text }
        let text = find(bytes)
        known[key] = text
        return text
    }

    private func find(_ bytes: ArraySlice<UInt8>) -> String? {
        let (lead, last) = (bytes[bytes.startIndex], bytes[bytes.endIndex - 1])
        switch encoding {
        case .gb18030 where lead == 0x80: return "€"
        case .shiftJIS where lead == 0x80: return "\u{80}"
        case .gb18030, .shiftJIS, .eucKR: return bytes.count == 1 && encoding != .shiftJIS ? nil : table.text(of: bytes)
        case .big5:
            if bytes.count < 2 { return nil }
            return ((0xA1...0xA3).contains(lead) ? second?.text(of: bytes) : nil) ?? table.text(of: bytes)
        case .eucJP where bytes.count == 3: return second?.text(of: bytes)
        case .eucJP where lead == 0x8E: return (0xA1...0xDF).contains(last) ? table.text(of: [last]) : nil
        case .eucJP:
            guard bytes.count == 2, (0xA1...0xFE).contains(lead), (0xA1...0xFE).contains(last) else { return nil }
            return table.text(of: Self.shiftJIS(row: lead - 0xA1, cell: last - 0xA1))
        }
    }

    /// Returns the Shift_JIS bytes for a row and cell of JIS X 0208.
    private static func shiftJIS(row: UInt8, cell: UInt8) -> ArraySlice<UInt8> {
        let (lead, trail) = (row / 2, (row % 2) * 94 + cell)
        return [lead + (lead < 0x1F ? 0x81 : 0xC1), trail + (trail < 0x3F ? 0x40 : 0x41)]
    }
}

/// Decodes ISO-2022-JP (WHATWG Encoding Standard §13.2.1).
struct ISO2022JPText {
    /// Decodes the characters of JIS X 0208 as EUC-JP, which uses the same bytes with the high bit set.
    var characters: MultiByteText

    private enum CharacterSet { case ascii, roman, katakana, kanji }

    private static let escapes: [(bytes: [UInt8], set: CharacterSet)] = [
        (Array("\u{1B}(B".utf8), .ascii), (Array("\u{1B}(J".utf8), .roman), (Array("\u{1B}(I".utf8), .katakana),
        (Array("\u{1B}$@".utf8), .kanji), (Array("\u{1B}$B".utf8), .kanji),
    ]

    /// Decodes bytes. Malformed bytes become U+FFFD.
    func text(_ bytes: [UInt8]) -> String {
        var characters = characters
        var text = ""
        var set = CharacterSet.ascii
        var rest = bytes[...]
        while let byte = rest.first {
            if byte == 0x1B, let escape = Self.escapes.first(where: { rest.starts(with: $0.bytes) }) {
                set = escape.set
                rest = rest.dropFirst(escape.bytes.count)
                continue
            }
            var byteCount = 1
            switch (set, byte) {
            case (.kanji, 0x21...0x7E):
                // An escape sequence does not belong to the character before it.
                let pair = rest.prefix(2).prefix { $0 != 0x1B }
                byteCount = pair.count
                text += characters.character(pair.map { $0 | 0x80 }[...]) ?? "\u{FFFD}"
            case (.katakana, 0x21...0x5F): text += characters.character([0x8E, byte | 0x80]) ?? "\u{FFFD}"
            case (.roman, 0x5C): text += "¥"
            case (.roman, 0x7E): text += "\u{203E}"
            case (.ascii, 0..<0x80) where ![0x0E, 0x0F, 0x1B].contains(byte),
                (.roman, 0..<0x80) where ![0x0E, 0x0F, 0x1B].contains(byte):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default: text += "\u{FFFD}"
            }
            rest = rest.dropFirst(byteCount)
        }
        return text
    }
}
