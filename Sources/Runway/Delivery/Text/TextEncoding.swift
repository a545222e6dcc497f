/// A character encoding: one of the WHATWG Encoding Standard (§4.2), or UTF-32.
enum TextEncoding: Hashable, Sendable {
    case utf8, utf16LE, utf16BE
    /// UTF-32, which the WHATWG Encoding Standard lacks because browsers do not read it. Text without a byte order mark
    /// is big-endian (RFC 3629 §4).
    case utf32, utf32LE, utf32BE
    /// An encoding with one byte for each character. Bytes above ASCII are looked up in a table of the system.
    case singleByte(SystemTable.Name)
    case gb18030, big5, shiftJIS, eucJP, eucKR, iso2022JP
    case userDefined
    /// An encoding that could hide ASCII characters, so the WHATWG Encoding Standard does not decode it. The whole body
    /// becomes one U+FFFD (§14.1).
    case replacement

    /// Returns the encoding that a label names (§4.2), or `nil` if the label is unknown.
    ///
    /// Only the letters and digits of the label are compared, as in Unicode Technical Standard #22 §1.4. `UTF_8` and
    /// `cp-1251` are therefore found, too.
    init?(label: String) {
        guard let encoding = Self.encodings[Self.letters(of: label)] else { return nil }
        self = encoding
    }

    private static func letters(of label: String) -> String {
        label.lowercased().filter { ("a"..."z").contains($0) || ("0"..."9").contains($0) }
    }

    /// The encodings by label. Labels contain only letters and digits.
    private static let encodings: [String: TextEncoding] = {
        var encodings: [String: TextEncoding] = [:]
        for (encoding, labels) in multiByte + singleByte.map({ (.singleByte($0), $1) }) {
            for label in labels.split(separator: " ") { encodings[letters(of: String(label))] = encoding }
        }
        return encodings
    }()

    private static let multiByte: [(TextEncoding, String)] = [
        (.utf8, "utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8"),
        (.utf16LE, "utf-16 utf-16le csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff"),
        (.utf16BE, "utf-16be unicodefffe"),
        (.utf32, "utf-32"), (.utf32LE, "utf-32le"), (.utf32BE, "utf-32be"),
        // GBK is decoded as GB 18030, which includes all of GBK (§10.1.1).
        (
            .gb18030,
            "gb18030 gbk x-gbk gb2312 csgb2312 gb_2312 gb_2312-80 chinese csiso58gb231280 iso-ir-58 cp936 ms936"
        ),
        (.big5, "big5 big5-hkscs cn-big5 csbig5 x-x-big5 cp950"),
        (.shiftJIS, "shift_jis csshiftjis ms932 ms_kanji sjis windows-31j x-sjis cp932"),
        (.eucJP, "euc-jp cseucpkdfmtjapanese x-euc-jp"),
        (.iso2022JP, "iso-2022-jp csiso2022jp"),
        (
            .eucKR,
            "euc-kr cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949 cp949"
        ),
        (.userDefined, "x-user-defined"),
        (.replacement, "replacement csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr"),
    ]

    /// Servers that name a smaller character set often send a larger one. ISO 8859-1 and US-ASCII are therefore decoded
    /// as Windows-1252, and ISO 8859-9 as Windows-1254.
    private static let singleByte: [(SystemTable.Name, String)] = [
        (.init("CP866", 0x419), "ibm866 866 cp866 csibm866"),
        (.init("ISO-8859-2", 0x202), "iso-8859-2 iso_8859-2:1987 csisolatin2 iso-ir-101 l2 latin2"),
        (.init("ISO-8859-3", 0x203), "iso-8859-3 iso_8859-3:1988 csisolatin3 iso-ir-109 l3 latin3"),
        (.init("ISO-8859-4", 0x204), "iso-8859-4 iso_8859-4:1988 csisolatin4 iso-ir-110 l4 latin4"),
        (.init("ISO-8859-5", 0x205), "iso-8859-5 iso_8859-5:1988 csisolatincyrillic cyrillic iso-ir-144"),
        (
            .init("ISO-8859-6", 0x206),
            "iso-8859-6 iso-8859-6-e iso-8859-6-i iso_8859-6:1987 arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-ir-127"
        ),
        (
            .init("ISO-8859-7", 0x207),
            "iso-8859-7 iso_8859-7:1987 csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 sun_eu_greek"
        ),
        (
            .init("ISO-8859-8", 0x208),
            "iso-8859-8 iso-8859-8-e iso-8859-8-i iso_8859-8:1988 csiso88598e csiso88598i csisolatinhebrew hebrew iso-ir-138 visual logical"
        ),
        (.init("ISO-8859-10", 0x20A), "iso-8859-10 csisolatin6 iso-ir-157 l6 latin6"),
        (.init("ISO-8859-13", 0x20D), "iso-8859-13"),
        (.init("ISO-8859-14", 0x20E), "iso-8859-14"),
        (.init("ISO-8859-15", 0x20F), "iso-8859-15 csisolatin9 l9 latin9"),
        (.init("ISO-8859-16", 0x210), "iso-8859-16"),
        (.init("KOI8-R", 0xA02), "koi8-r cskoi8r koi koi8"),
        (.init("KOI8-U", 0xA08), "koi8-u koi8-ru"),
        (.init("MACINTOSH", 0x0), "macintosh csmacintosh mac x-mac-roman"),
        (.init("MAC-UK", 0x98), "x-mac-cyrillic x-mac-ukrainian"),
        (.init("CP874", 0x41D), "windows-874 dos-874 iso-8859-11 tis-620"),
        (.init("CP1250", 0x501), "windows-1250 cp1250 x-cp1250"),
        (.init("CP1251", 0x502), "windows-1251 cp1251 x-cp1251"),
        (
            .init("CP1252", 0x500),
            "windows-1252 cp1252 x-cp1252 ascii us-ascii ansi_x3.4-1968 iso-8859-1 iso_8859-1:1987 csisolatin1 latin1 l1 cp819 ibm819 iso-ir-100"
        ),
        (.init("CP1253", 0x503), "windows-1253 cp1253 x-cp1253"),
        (
            .init("CP1254", 0x504),
            "windows-1254 cp1254 x-cp1254 iso-8859-9 iso_8859-9:1989 csisolatin5 latin5 l5 iso-ir-148"
        ),
        (.init("CP1255", 0x505), "windows-1255 cp1255 x-cp1255"),
        (.init("CP1256", 0x506), "windows-1256 cp1256 x-cp1256"),
        (.init("CP1257", 0x507), "windows-1257 cp1257 x-cp1257"),
        (.init("CP1258", 0x508), "windows-1258 cp1258 x-cp1258"),
    ]
}

extension TextEncoding {
    /// Determines the encoding that a body declares; `nil` if it declares none.
    ///
    /// The sources, in order of precedence (RFC 7303 §3; HTML §13.2.3.1):
    ///
    /// - a byte order mark,
    /// - the charset of the media type; an unknown charset counts as absent,
    /// - the declaration of an XML or HTML document in its first 1,024 bytes. A body without a media type may declare
    ///   itself as XML.
    init?(of bytes: [UInt8], typed mediaType: MediaType?) {
        let labelled = mediaType?.charset.flatMap { TextEncoding(label: $0) }
        let declared: TextEncoding? =
            if [.utf32, .utf32LE, .utf32BE].contains(labelled) {
                // The little-endian mark of UTF-32 begins with the mark of UTF-16, so a charset of UTF-32 takes
                // precedence over the mark.
                labelled
            } else if let marked = TextEncoding(markOf: bytes) ?? labelled {
                marked
            } else if mediaType?.isHTML == true {
                DeclaredEncoding.xml(bytes) ?? DeclaredEncoding.html(bytes)
            } else if mediaType?.isXML ?? true {
                DeclaredEncoding.xml(bytes)
            } else {
                nil
            }
        guard let declared else { return nil }
        self = declared
    }

    /// Returns the encoding that a byte order mark names (§6.1).
    private init?(markOf bytes: [UInt8]) {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            self = .utf8
        } else if bytes.starts(with: [0xFE, 0xFF]) {
            self = .utf16BE
        } else if bytes.starts(with: [0xFF, 0xFE]) {
            self = .utf16LE
        } else {
            return nil
        }
    }
}
