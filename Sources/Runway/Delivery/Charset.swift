import Foundation

/// Decodes text in the character sets that servers name.
enum Charset {
    /// The encodings by their IANA names and the aliases that servers use, in lower case.
    ///
    /// ISO 8859-1 and US-ASCII are read as Windows-1252, and GB 2312 and GBK as GB 18030, as the WHATWG Encoding Standard
    /// (§4.2) requires: servers that name the smaller set send the larger one. EUC-JP is read on Apple's systems alone; Foundation
    /// has no table for it elsewhere.
    private static let encodings: [String: String.Encoding] = {
        // The numbers of CoreFoundation's external encodings, which Foundation accepts on every platform.
        let gb18030 = String.Encoding(rawValue: 0x8000_0632)
        let big5 = String.Encoding(rawValue: 0x8000_0A03)
        let eucKR = String.Encoding(rawValue: 0x8000_0940)
        return [
            "utf-16": .utf16, "utf-16le": .utf16LittleEndian, "utf-16be": .utf16BigEndian,
            "utf-32": .utf32, "utf-32le": .utf32LittleEndian, "utf-32be": .utf32BigEndian,
            "us-ascii": .windowsCP1252, "ascii": .windowsCP1252, "iso-8859-1": .windowsCP1252,
            "latin1": .windowsCP1252, "windows-1252": .windowsCP1252, "cp1252": .windowsCP1252,
            "iso-8859-2": .isoLatin2, "windows-1250": .windowsCP1250, "windows-1251": .windowsCP1251,
            "gb18030": gb18030, "gbk": gb18030, "gb2312": gb18030, "x-gbk": gb18030,
            "big5": big5, "euc-kr": eucKR, "shift_jis": .shiftJIS, "euc-jp": .japaneseEUC,
        ]
    }()

    /// Returns the text that bytes encode; `nil` if the charset is unknown or the bytes are not text in it.
    ///
    /// Without a charset the bytes are read as UTF-8. A byte order mark is not part of the text.
    static func text(_ bytes: [UInt8], in charset: String?) -> String? {
        guard let charset, charset != "utf-8", charset != "utf8" else {
            let content = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
            return String(validating: content, as: UTF8.self)
        }
        guard let encoding = encodings[charset] else { return nil }
        // Foundation ignores a truncated code unit.
        let unitByteCount = charset.hasPrefix("utf-16") ? 2 : charset.hasPrefix("utf-32") ? 4 : 1
        guard bytes.count.isMultiple(of: unitByteCount),
            let text = String(data: Data(bytes), encoding: encoding)
        else { return nil }
        return text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
    }
}
