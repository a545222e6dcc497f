import Runway
import RunwayJSON
import Testing

/// Which encoding is named for a body: by its first bytes, by its media type, or by an XML or HTML document itself.
struct DeclaredEncodingTests {
    private let koi8: [UInt8] = [0xCD, 0xC9, 0xD2]

    /// The text of a document whose last bytes are "мир" in KOI8-R.
    private func text(_ start: String, _ type: String?) -> String? {
        let body = Array(start.utf8) + koi8
        return RawData(body, typed: type).text.map { String($0.dropFirst(start.count)) }
    }

    @Test(arguments: [
        #"text/plain; charset=koi8-r"#, #"text/plain;charset="KOI8-R""#, #"text/plain; charset='koi8-r'"#,
        #"text/plain; charset="koi8-r"#, #"text/plain; charset = koi8-r"#, #"text/plain; CHARSET=koi8_r; q=1"#,
        #"text/plain; charset=koi8-r, text/plain"#, #"text/plain;; charset=koi8-r;"#,
        #"text/plain; x=";"; charset=koi8-r"#,
        #"application/octet-stream; charset=cskoi8r"#, #"image/png;charset="koi8-r";charset=utf-8"#,
    ])
    func charsetIsReadAsServersWriteIt(_ type: String) {
        #expect(text("", type) == "мир")
    }

    @Test(arguments: [
        #"<?xml version="1.0" encoding="koi8-r"?>"#, #"<?xml version='1.0' encoding = 'KOI8-R' standalone='yes'?>"#,
        "<?xml version=\"1.0\"\n encoding=\"koi8-r\" ?>",
    ])
    func xmlDeclaresItsEncoding(_ start: String) {
        for type in ["application/xml", "text/xml", "image/svg+xml", "application/xhtml+xml", "text/html", nil] {
            #expect(text(start, type) == "мир", "\(type ?? "")")
        }
        #expect(text(start, "text/plain") == nil)
        // The charset of the media type comes before the declaration.
        #expect(text(start, "text/xml; charset=windows-1251") == "НЙТ")
    }

    @Test(arguments: [
        "<meta charset=koi8-r>", "<!doctype html><html><head><META CHARSET='KOI8-R' />", "<meta charset = \"koi8-r\">",
        "<meta http-equiv=\"Content-Type\" content=\"text/html; charset=koi8-r\">",
        "<meta content='text/html; charset = \"koi8-r\"' http-equiv='content-type'>",
        "<!-- <meta charset=utf-8> --><meta/charset=koi8-r>", "<a title='<meta charset=utf-8>'><meta charset=koi8-r>",
        "<!--><meta charset=koi8-r>", "<?x <y>?><meta charset=koi8-r>", "<meta charset=klingon><meta charset=koi8-r>",
        "<meta content='charset=utf-8'><meta name=a charset=koi8-r>", "<metadata charset=utf-8><meta charset=koi8-r>",
    ])
    func htmlDeclaresItsEncoding(_ start: String) {
        #expect(text(start, "text/html") == "мир")
        #expect(text(start, "text/plain") == nil)
    }

    @Test func declarationIsSearchedInTheFirst1024Bytes() {
        let meta = "<meta charset=koi8-r>"
        #expect(text(String(repeating: " ", count: 1024 - meta.utf8.count) + meta, "text/html") == "мир")
        #expect(text(String(repeating: " ", count: 1024) + meta, "text/html") == nil)
        for open in ["<!--", "<meta charset='", "<a b", "<meta", "<?xml version='1.0' encoding='koi8-r"] {
            #expect(text(open, "text/html") == nil, "\(open)")
        }
    }

    @Test func utf16ReadAsASCIIIsUTF8() {
        #expect(RawData(Array("<meta charset=utf-16>é".utf8), typed: "text/html").text?.hasSuffix("é") == true)
        #expect(
            RawData(Array("<?xml version='1.0' encoding='UTF-16'?>é".utf8), typed: "text/xml").text?.hasSuffix("é")
                == true)
        let wide = "<?xml version='1.0' encoding='UTF-16'?>é".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        #expect(RawData(wide, typed: "text/xml").text?.hasSuffix("é") == true)
    }

    @Test func byteOrderMarkPrecedesTheCharset() {
        #expect(RawData([0xEF, 0xBB, 0xBF] + Array("é".utf8), typed: "text/plain; charset=koi8-r").text == "é")
        #expect(RawData([0xFF, 0xFE, 0x2D, 0x4E], typed: "text/plain; charset=utf-8").text == "中")
        #expect(RawData([0xFE, 0xFF, 0x4E, 0x2D]).text == "中")
        #expect(RawData([0xFF, 0xFE, 0, 0, 0x2D, 0x4E, 0, 0], typed: "text/plain; charset=utf-32").text == "中")
        #expect(RawData([0, 0, 0x4E, 0x2D], typed: "text/plain; charset=utf-32").text == "中")
    }

    @Test func jsonIsReadInItsNamedEncoding() {
        let json = Array(#"{"a":""#.utf8) + koi8 + Array(#""}"#.utf8)
        #expect(RawData(json, typed: "application/json; charset=\"koi8-r\"")["a"].string == "мир")
        // JSON is UTF-8, whatever its media type says (RFC 8259 §8.1).
        #expect(RawData(Array(#"{"a":"é"}"#.utf8), typed: "application/json; charset=iso-8859-1")["a"].string == "é")
        let wide = #"{"a":"мир"}"#.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        #expect(RawData([0xFE, 0xFF] + wide, typed: "application/json")["a"].string == "мир")
        let cut = RawData(json.dropLast(), typed: "application/json; charset=koi8-r").json.invalidDocumentError
        #expect(cut?.kind != .invalidUTF8)
    }
}
