import HTTPTypes
import Runway
import RunwayJSON
import Testing

extension RawData {
    /// A response of bytes with a value of `Content-Type`.
    init(_ bytes: [UInt8], typed contentType: String?) {
        var head = HTTPResponse(status: .ok)
        if let contentType { head.headerFields[.contentType] = contentType }
        self.init(bytes, response: head)
    }
}

struct RawDataTextTests {
    @Test(
        arguments: [
            ("utf-8", [0xE4, 0xB8, 0xAD, 0xE6, 0x96, 0x87], "中文"),
            ("UTF8", [0xE4, 0xB8, 0xAD], "中"),
            ("utf-8", [0xEF, 0xBB, 0xBF, 0x61], "a"),
            ("gb18030", [0xD6, 0xD0, 0xCE, 0xC4], "中文"),
            ("gb18030", [0x81, 0x30, 0x81, 0x30, 0x95, 0x32, 0x82, 0x36], "\u{80}\u{20000}"),
            ("gbk", [0xD6, 0xD0, 0xCE, 0xC4], "中文"),
            ("GB2312", [0xD6, 0xD0], "中"),
            ("big5", [0xA4, 0xA4, 0xA4, 0xE5], "中文"),
            ("utf-16", [0xFE, 0xFF, 0x4E, 0x2D], "中"),
            ("utf-16", [0xFF, 0xFE, 0x2D, 0x4E], "中"),
            ("utf-16le", [0x2D, 0x4E, 0x3D, 0xD8, 0x00, 0xDE], "中😀"),
            ("utf-16be", [0x4E, 0x2D], "中"),
            ("utf-16le", [0xFF, 0xFE, 0x2D, 0x4E], "中"),
            ("utf-16be", [0xFE, 0xFF, 0x4E, 0x2D], "中"),
            ("iso-8859-1", [0x63, 0x61, 0x66, 0xE9], "café"),
            ("latin1", [0x80], "€"),
            ("us-ascii", [0x61], "a"),
            ("windows-1251", [0xC4, 0xE0], "Да"),
            ("shift_jis", [0x93, 0xFA], "日"),
            ("euc-kr", [0xC7, 0xD1], "한"),
            ("gb18030", [], ""),
            ("utf-8", [], ""),
        ] as [(String, [UInt8], String)])
    func bytesAreReadInTheNamedCharset(_ charset: String, _ bytes: [UInt8], _ text: String) {
        #expect(RawData(bytes, typed: "text/plain; charset=\(charset)").text == text)
    }

    @Test func bytesWithoutACharsetAreUTF8() {
        #expect(RawData(Array("中".utf8)).text == "中")
        #expect(RawData(Array("中".utf8), typed: "text/plain").text == "中")
        #expect(RawData([0xD6, 0xD0]).text == nil)
    }

    @Test func unknownCharsetCountsAsAbsent() {
        #expect(RawData(Array("é".utf8), typed: "text/plain; charset=klingon").text == "é")
        #expect(RawData([0xC3, 0x28], typed: "text/plain; charset=klingon").text == nil)
        // A charset that is known promises text: what is malformed does not lose the rest.
        #expect(RawData([0x61, 0xC3, 0x28], typed: "text/plain; charset=utf-8").text == "a\u{FFFD}(")
    }

    @Test func jsonIsReadInTheNamedCharset() {
        let gb: [UInt8] = Array(#"{"a":""#.utf8) + [0xD6, 0xD0] + Array(#""}"#.utf8)
        #expect(RawData(gb, typed: "application/json; charset=gbk")["a"].string == "中")
        let wide: [UInt8] = #"{"a":[1]}"#.utf8.flatMap { [$0, 0] }
        #expect(RawData([0xFF, 0xFE] + wide, typed: "application/json; charset=utf-16")["a"][0].int == 1)
        #expect(RawData([0xFF, 0xFE] + wide, typed: "application/json; charset=utf-16le")["a"][0].int == 1)
        #expect(RawData([0xEF, 0xBB, 0xBF] + Array("[7]".utf8))[0].int == 7)
    }

    @Test func jsonInAWrongCharsetNamesTheError() throws {
        let gb: [UInt8] = Array(#"{"a":""#.utf8) + [0xD6, 0xD0] + Array(#""}"#.utf8)
        for type in [nil, "application/json", "application/json; charset=utf-8", "application/json; charset=klingon"] {
            let error = try #require(RawData(gb, typed: type).json.invalidDocumentError)
            #expect(error.kind == .invalidUTF8)
            #expect(error.offset == 6)
            #expect(error.line == 1 && error.column == 7)
        }
    }

    @Test func malformedMediaTypeIsNil() {
        #expect(RawData([], typed: "nonsense").mediaType == nil)
        #expect(RawData([]).mediaType == nil)
        #expect(RawData(Array("a".utf8), typed: "nonsense").text == "a")
    }
}
