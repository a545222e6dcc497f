import Testing

@testable import Runway

/// Labels, tables and errors of the WHATWG Encoding Standard. What is expected is what Deno's TextDecoder returns
/// (encoding_rs).
struct TextEncodingTests {
    /// Each line: the name of an encoding, and its other labels (§4.2).
    private static let labels = """
        utf-8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf8 x-unicode20utf8
        ibm866 866 cp866 csibm866
        iso-8859-2 csisolatin2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2
        iso-8859-3 csisolatin3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3
        iso-8859-4 csisolatin4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4
        iso-8859-5 csisolatincyrillic cyrillic iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988
        iso-8859-6 arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6-e iso-8859-6-i
        iso-8859-6 iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987
        iso-8859-7 csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso8859-7 iso88597 iso_8859-7 sun_eu_greek
        iso-8859-7 iso_8859-7:1987
        iso-8859-8 csiso88598e csisolatinhebrew hebrew iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8 visual
        iso-8859-8 iso_8859-8:1988 csiso88598i iso-8859-8-i logical
        iso-8859-10 csisolatin6 iso-ir-157 iso8859-10 iso885910 l6 latin6
        iso-8859-13 iso8859-13 iso885913
        iso-8859-14 iso8859-14 iso885914
        iso-8859-15 csisolatin9 iso8859-15 iso885915 iso_8859-15 l9
        iso-8859-16
        koi8-r cskoi8r koi koi8 koi8_r
        koi8-u koi8-ru
        macintosh csmacintosh mac x-mac-roman
        windows-874 dos-874 iso-8859-11 iso8859-11 iso885911 tis-620
        windows-1250 cp1250 x-cp1250
        windows-1251 cp1251 x-cp1251
        windows-1252 ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591
        windows-1252 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii x-cp1252
        windows-1253 cp1253 x-cp1253
        windows-1254 cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5
        windows-1254 x-cp1254
        windows-1255 cp1255 x-cp1255
        windows-1256 cp1256 x-cp1256
        windows-1257 cp1257 x-cp1257
        windows-1258 cp1258 x-cp1258
        x-mac-cyrillic x-mac-ukrainian
        gbk chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 iso-ir-58 x-gbk gb18030
        big5 big5-hkscs cn-big5 csbig5 x-x-big5
        euc-jp cseucpkdfmtjapanese x-euc-jp
        iso-2022-jp csiso2022jp
        shift_jis csshiftjis ms932 ms_kanji shift-jis sjis windows-31j x-sjis
        euc-kr cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949
        replacement csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr
        utf-16be unicodefffe
        utf-16le csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16
        x-user-defined
        """

    @Test func everyLabelNamesItsEncoding() throws {
        var encodings: Set<TextEncoding> = []
        for line in Self.labels.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            let encoding = try #require(TextEncoding(label: words[0]))
            encodings.insert(encoding)
            for label in words { #expect(TextEncoding(label: " \(label.uppercased())\t") == encoding, "\(label)") }
        }
        // GBK and GB 18030 are one decoder, and so are ISO 8859-8 and its logical form.
        #expect(encodings.count == 38)
    }

    @Test func spellingsThatServersUseAreFound() {
        for (spelling, label) in [
            ("UTF_8", "utf-8"), ("utf 8", "utf-8"), ("cp-1251", "windows-1251"), ("windows1251", "windows-1251"),
            ("KOI8_R", "koi8-r"), ("shiftjis", "shift_jis"), ("latin-1", "iso-8859-1"), ("euc_kr", "euc-kr"),
        ] {
            #expect(TextEncoding(label: spelling) == TextEncoding(label: label), "\(spelling)")
        }
        for unknown in ["", "klingon", "utf", "utf-7", "iso-8859-12", "windows-1259", "ＵＴＦ-8"] {
            #expect(TextEncoding(label: unknown) == nil, "\(unknown)")
        }
    }

    /// The bytes from 0x80 to 0xFF, as one FNV-1a hash of their text.
    @Test(
        arguments: [
            ("ibm866", 0x1fc2_571f_0480_6dca), ("iso-8859-2", 0x5880_24dc_95e3_e2b6),
            ("iso-8859-3", 0x135e_6197_4ca2_4517), ("iso-8859-4", 0x91e3_74cb_717c_9e0f),
            ("iso-8859-5", 0xb83a_da89_4cdb_942f), ("iso-8859-6", 0x5479_4f86_b052_c862),
            ("iso-8859-7", 0x8a37_fb52_2272_b5e9), ("iso-8859-8", 0xda8a_b993_f355_95dd),
            ("iso-8859-10", 0xf625_5d1c_555e_a19b), ("iso-8859-13", 0xc629_5f21_6259_d2e1),
            ("iso-8859-14", 0xdc6e_3a7b_6097_d8b5), ("iso-8859-15", 0x5df0_b681_d68e_ed40),
            ("iso-8859-16", 0x67e7_1470_c2c3_c702), ("koi8-r", 0x0525_656e_2fbd_23bd),
            ("koi8-u", 0x042b_0acd_8c13_4fc1), ("macintosh", 0xf863_2623_ab53_7bb5),
            ("windows-874", 0x54fe_9749_b6d1_9313), ("windows-1250", 0x6cce_f657_3d6d_9235),
            ("windows-1251", 0x9448_b7d0_66a7_53a5), ("windows-1252", 0x29cc_fe22_0dc0_c01a),
            ("windows-1253", 0xded5_f7d2_4e4d_c710), ("windows-1254", 0x29e5_a164_d75b_4794),
            ("windows-1255", 0xbaa3_1a84_bee9_449f), ("windows-1256", 0xe1f9_d919_0525_e0cb),
            ("windows-1257", 0x879c_25a3_ba7f_16ce), ("windows-1258", 0xffed_1fce_560d_4f03),
            ("x-mac-cyrillic", 0x18e0_67f8_c866_b605),
        ] as [(String, UInt64)])
    func everyByteHasTheCharacterOfTheStandard(_ label: String, _ hash: UInt64) throws {
        let text = try #require(TextEncoding(label: label)?.text(Array(0x80...0xFF)))
        let found = text.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        #expect(found == hash, "\(label): \(text.debugDescription)")
    }

    @Test(
        arguments: [
            ("gbk", [0x80], "€"), ("gb18030", [0xA2, 0xE3], "€"), ("gbk", [0xD6, 0xD0, 0xCE, 0xC4], "中文"),
            ("gb18030", [0x81, 0x30, 0x81, 0x30], "\u{80}"), ("big5", [0xA4, 0xA4, 0xA4, 0xE5], "中文"),
            ("big5", [0xA1, 0x45], "\u{2027}"), ("big5", [0x88, 0x62], "\u{CA}\u{304}"),
            ("big5", [0xC8, 0x7A], "\u{200CC}"), ("shift_jis", [0x93, 0xFA, 0x96, 0x7B, 0x8C, 0xEA], "日本語"),
            ("shift_jis", [0xB1, 0xB2, 0xB3], "ｱｲｳ"), ("shift_jis", [0x87, 0x40], "①"),
            ("shift_jis", [0xFB, 0xFC], "髙"), ("shift_jis", [0x81, 0x60, 0x80], "～\u{80}"),
            ("euc-jp", [0xC6, 0xFC, 0xCB, 0xDC, 0xB8, 0xEC], "日本語"), ("euc-jp", [0xAD, 0xA1], "①"),
            ("euc-jp", [0xFB, 0xFC], "鄕"), ("euc-jp", [0xA1, 0xC1, 0x8E, 0xB1], "～ｱ"),
            ("euc-jp", [0x8F, 0xB0, 0xEC], "佒"), ("euc-kr", [0xC7, 0xD1, 0xB1, 0xDB], "한글"),
            ("euc-kr", [0x81, 0x41], "갂"), ("x-user-defined", [0x41, 0x80, 0xFF], "A\u{F780}\u{F7FF}"),
            ("iso-2022-jp", Array("\u{1B}$BF|K\\\u{1B}(Ba".utf8), "日本a"),
            ("iso-2022-jp", Array("\u{1B}(I[\u{1B}(B".utf8), "ﾛ"),
            ("iso-2022-jp", Array("\u{1B}(J\\~\u{1B}(Ba".utf8), "¥\u{203E}a"),
            ("windows-1252", [0x81, 0x80], "\u{81}€"), ("windows-1258", [0x61, 0xCC], "a\u{300}"),
        ] as [(String, [UInt8], String)])
    func charactersAreThoseOfTheStandard(_ label: String, _ bytes: [UInt8], _ text: String) {
        #expect(TextEncoding(label: label)?.text(bytes) == text)
    }

    @Test(
        arguments: [
            ("gbk", [0xD6, 0x22], "\u{FFFD}\""), ("gbk", [0xFF, 0x41], "\u{FFFD}A"), ("gbk", [0x81, 0xFF], "\u{FFFD}"),
            ("gb18030", [0x81, 0x30], "\u{FFFD}"), ("gb18030", [0x81, 0x30, 0x22], "\u{FFFD}0\""),
            ("big5", [0xA4, 0x22], "\u{FFFD}\""), ("big5", [0x81, 0xFF, 0x61], "\u{FFFD}a"),
            ("shift_jis", [0xA0, 0xFD], "\u{FFFD}\u{FFFD}"), ("shift_jis", [0x93, 0x22, 0x93], "\u{FFFD}\"\u{FFFD}"),
            ("euc-jp", [0xC6, 0x22, 0xC6], "\u{FFFD}\"\u{FFFD}"), ("euc-jp", [0x8F, 0xA1, 0x22], "\u{FFFD}\""),
            ("euc-jp", [0x8E, 0x22], "\u{FFFD}\""), ("euc-kr", [0xC7, 0x22], "\u{FFFD}\""),
            ("euc-kr", [0x80, 0xFF], "\u{FFFD}\u{FFFD}"),
            ("iso-2022-jp", Array("\u{1B}$B\n\u{1B}(Ba".utf8), "\u{FFFD}a"),
            ("iso-2022-jp", Array("\u{1B}$BF\u{1B}(Ba".utf8), "\u{FFFD}a"),
            ("iso-2022-jp", [0x61, 0xFF, 0x1B, 0x61], "a\u{FFFD}\u{FFFD}a"),
            ("utf-8", [0xE2, 0x82, 0x41], "\u{FFFD}A"), ("utf-8", [0xED, 0xA0, 0x80], "\u{FFFD}\u{FFFD}\u{FFFD}"),
            ("utf-8", [0xC0, 0xAF], "\u{FFFD}\u{FFFD}"), ("utf-8", [0xF0, 0x9F, 0x98], "\u{FFFD}"),
            ("utf-16", [0x3D, 0xD8, 0x61, 0x00], "\u{FFFD}a"), ("utf-16be", [0xD8, 0x3D], "\u{FFFD}"),
            ("utf-16", [0x61], "\u{FFFD}"), ("utf-32le", [0x61, 0, 0, 0, 0, 0, 0x11, 0, 0x61], "a\u{FFFD}\u{FFFD}"),
            ("iso-2022-kr", [0x61, 0x62], "\u{FFFD}"), ("hz-gb-2312", [], ""),
        ] as [(String, [UInt8], String)])
    func malformedTextHidesNoASCII(_ label: String, _ bytes: [UInt8], _ text: String) {
        #expect(TextEncoding(label: label)?.text(bytes) == text)
    }
}
