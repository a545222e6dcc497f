import Runway
import Testing

struct MediaTypeTests {
    @Test(arguments: [
        ("application/json", "application", "json", nil),
        ("TEXT/HTML;Charset=UTF-8", "text", "html", "utf-8"),
        ("text/plain; charset=\"gb18030\"", "text", "plain", "gb18030"),
        ("  text/plain ;\tcharset=gbk ", "text", "plain", "gbk"),
        ("text/plain;charset=a;charset=b", "text", "plain", "a"),
        ("text/plain; x=\"a;charset=no\"; charset=yes", "text", "plain", "yes"),
        ("text/plain; x=\"a\\\";charset=no\"; charset=yes", "text", "plain", "yes"),
        ("text/plain; charset=", "text", "plain", nil),
        ("text/plain; charset", "text", "plain", nil),
        ("text/plain;;; charset=big5;", "text", "plain", "big5"),
        ("text/plain; =x; charset=\"\"; charset=utf-8", "text", "plain", "utf-8"),
        ("multipart/form-data; boundary=x", "multipart", "form-data", nil),
        ("application/vnd.api+JSON", "application", "vnd.api+json", nil),
        ("*/*", "*", "*", nil),
        ("text/plain; charset='koi8-r'", "text", "plain", "koi8-r"),
        ("text/plain; charset=\"koi8-r; q=1", "text", "plain", "koi8-r"),
        ("text/plain; charset = koi8-r, text/html", "text", "plain", "koi8-r"),
        ("text/plain; charset=\"utf\\-8\"", "text", "plain", "utf-8"),
    ])
    func valueIsTakenApart(_ text: String, _ type: String, _ subtype: String, _ charset: String?) throws {
        let mediaType = try #require(MediaType(text))
        #expect(mediaType.type == type)
        #expect(mediaType.subtype == subtype)
        #expect(mediaType.charset == charset)
    }

    @Test(arguments: [
        "", ";", "text", "/", "text/", "/plain", "a/b/c", "text /plain", "text/pl ain", "文/本", "; charset=utf-8",
        "a\n/b",
    ])
    func valueWithoutTypeAndSubtypeIsNil(_ text: String) {
        #expect(MediaType(text) == nil)
    }

    @Test(arguments: [
        ("application/json", true), ("text/json", true), ("application/problem+json", true),
        ("application/jsonp", false),
        ("text/html", false), ("application/json-seq", false),
    ])
    func jsonIsRecognised(_ text: String, _ isJSON: Bool) throws {
        #expect(try #require(MediaType(text)).isJSON == isJSON)
    }

    @Test func descriptionReadsBackAsItself() throws {
        for text in ["text/html", "text/html; charset=utf-8"] {
            let mediaType = try #require(MediaType(text))
            #expect(mediaType.description == text)
            #expect(MediaType(mediaType.description) == mediaType)
        }
    }
}
