extension TextEncoding {
    /// Decodes bytes that have no byte order mark. Malformed bytes become U+FFFD. Returns `nil` if the system has no
    /// table for the encoding.
    func text(_ bytes: [UInt8]) -> String? {
        switch self {
        case .utf8: String(decoding: bytes.dropMark([0xEF, 0xBB, 0xBF]), as: UTF8.self)
        case .utf16LE: Self.utf16(bytes.dropMark([0xFF, 0xFE])) { UInt16($1) << 8 | UInt16($0) }
        case .utf16BE: Self.utf16(bytes.dropMark([0xFE, 0xFF])) { UInt16($0) << 8 | UInt16($1) }
        case .utf32 where bytes.starts(with: [0xFF, 0xFE, 0, 0]), .utf32LE:
            Self.utf32(bytes.dropMark([0xFF, 0xFE, 0, 0])) { $0.reversed() }
        case .utf32, .utf32BE: Self.utf32(bytes.dropMark([0, 0, 0xFE, 0xFF])) { Array($0) }
        case .singleByte(let name): Self.singleByte(bytes, name)
        case .gb18030: MultiByteText(.gb18030)?.text(bytes)
        case .big5: MultiByteText(.big5)?.text(bytes)
        case .shiftJIS: MultiByteText(.shiftJIS)?.text(bytes)
        case .eucJP: MultiByteText(.eucJP)?.text(bytes)
        case .eucKR: MultiByteText(.eucKR)?.text(bytes)
        case .iso2022JP: MultiByteText(.eucJP).map { ISO2022JPText(characters: $0).text(bytes) }
        // Maps bytes as in WHATWG Encoding Standard §14.5.1.
        case .userDefined: String(bytes) { $0 < 0x80 ? Unicode.Scalar($0) : Unicode.Scalar(0xF700 + UInt32($0)) }
        case .replacement: bytes.isEmpty ? "" : "\u{FFFD}"
        }
    }

    private static func utf16(_ bytes: ArraySlice<UInt8>, _ unit: (UInt8, UInt8) -> UInt16) -> String {
        let units = stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2).map { unit(bytes[$0], bytes[$0 + 1]) }
        return String(decoding: units, as: UTF16.self) + (bytes.count.isMultiple(of: 2) ? "" : "\u{FFFD}")
    }

    /// - Parameter order: Reorders the four bytes of a character from highest to lowest.
    private static func utf32(_ bytes: ArraySlice<UInt8>, _ order: (ArraySlice<UInt8>) -> [UInt8]) -> String {
        var text = String.UnicodeScalarView()
        for start in stride(from: bytes.startIndex, to: bytes.endIndex, by: 4) {
            let unit = bytes[start..<min(start + 4, bytes.endIndex)]
            let value = order(unit).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            text.append((unit.count == 4 ? Unicode.Scalar(value) : nil) ?? "\u{FFFD}")
        }
        return String(text)
    }

    private static func singleByte(_ bytes: [UInt8], _ name: SystemTable.Name) -> String? {
        guard let table = SystemTable(name) else { return nil }
        let scalars = (UInt8(0)...0xFF).map { byte -> Unicode.Scalar in
            if byte < 0x80 { return Unicode.Scalar(byte) }
            if let scalar = corrections[name.iconv]?[byte] { return scalar }
            if let scalar = table.text(of: [byte])?.unicodeScalars.first { return scalar }
            // For bytes that a code page leaves undefined, the indexes of the WHATWG Encoding Standard contain the C1
            // controls.
            return byte < 0xA0 ? Unicode.Scalar(byte) : "\u{FFFD}"
        }
        return String(bytes) { scalars[Int($0)] }
    }

    /// Characters for which the indexes of the WHATWG Encoding Standard (§6) differ from the tables of the systems.
    private static let corrections: [String: [UInt8: Unicode.Scalar]] = [
        "KOI8-U": [0xAE: "\u{45E}", 0xBE: "\u{40E}"], "MACINTOSH": [0xC6: "\u{2206}", 0xF0: "\u{F8FF}"],
        "MAC-UK": [0xFF: "\u{20AC}"], "CP1255": [0xCA: "\u{5BA}"],
    ]
}

extension String {
    /// Creates text with one character for each byte. A byte without a character becomes U+FFFD.
    fileprivate init(_ bytes: [UInt8], _ scalar: (UInt8) -> Unicode.Scalar?) {
        var text = UnicodeScalarView()
        for byte in bytes { text.append(scalar(byte) ?? "\u{FFFD}") }
        self.init(text)
    }
}

extension [UInt8] {
    fileprivate func dropMark(_ mark: [UInt8]) -> ArraySlice<UInt8> {
        starts(with: mark) ? self[mark.count...] : self[...]
    }
}
