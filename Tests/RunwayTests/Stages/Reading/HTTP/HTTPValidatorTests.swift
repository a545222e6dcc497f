import HTTPTypes
import Testing

@testable import Runway

struct HTTPValidatorTests {
    @Test func tagsAreComparedStronglyAndWeakly() throws {
        let strong = try #require(EntityTag("\"a\""))
        let weak = try #require(EntityTag("W/\"a\""))
        let other = try #require(EntityTag("\"b\""))
        #expect(strong.matchesStrongly(strong) && strong.matchesWeakly(weak) && weak.matchesWeakly(weak))
        #expect(!strong.matchesStrongly(weak) && !weak.matchesStrongly(weak) && !strong.matchesWeakly(other))
        #expect(EntityTag("w/\"a\"") == weak)
        #expect(EntityTag("  ") == nil && EntityTag("W/") == nil)
        #expect(EntityTag("a")?.text == "a")
    }

    @Test func tagListsAreReadOverInnerCommas() throws {
        #expect(EntityTagList([]) == nil)
        #expect(EntityTagList(["*"]) == .any)
        let list = try #require(EntityTagList(["\"a,b\", W/\"c\"", "\"d\""]))
        #expect(
            list.matches(EntityTag("\"a,b\"")) && list.matches(EntityTag("\"c\"")) && list.matches(EntityTag("\"d\"")))
        #expect(!list.matches(EntityTag("\"a\"")) && !list.matches(nil))
    }

    @Test(arguments: [
        ("bytes=0-4", ByteRange.from(0, through: 4)), ("BYTES=5-", .from(5, through: nil)), ("bytes=-3", .last(3)),
        ("bytes= 0-0 ", .from(0, through: 0)),
    ])
    func rangesAreRead(_ text: String, _ range: ByteRange) {
        #expect(ByteRange(text) == range)
    }

    @Test(arguments: [
        "", "bytes", "bytes=", "bytes=-", "bytes=4-2", "bytes=0-1,3-4", "lines=0-1", "bytes=a-b", "bytes=0-1x",
        "bytes=--1",
    ])
    func otherRangesAreNotTakenForOne(_ text: String) {
        #expect(ByteRange(text) == nil)
    }

    @Test func rangeIsClippedToTheBody() {
        #expect(ByteRange("bytes=2-99")?.bytes(of: 10) == 2..<10)
        #expect(ByteRange("bytes=-99")?.bytes(of: 10) == 0..<10)
        #expect(ByteRange("bytes=-0")?.bytes(of: 10) == nil)
        #expect(ByteRange("bytes=10-")?.bytes(of: 10) == nil)
        #expect(ByteRange("bytes=0-")?.bytes(of: 0) == nil)
        #expect(ByteRange("bytes=0-99999999999999999999999")?.bytes(of: 3) == 0..<3)
    }

    @Test func contentRangesAreRead() {
        #expect(ContentRange("bytes 0-4/10") == ContentRange(0..<5, of: 10))
        #expect(ContentRange("bytes 5-9/*") == ContentRange(5..<10, of: nil))
        #expect(ContentRange(5..<10, of: 10).text == "bytes 5-9/10")
        for text in [
            "bytes */10", "bytes 4-2/10", "bytes 0-9/5", "lines 0-4/10", "bytes 0-4", "bytes=0-4/10", "0-4/10", "",
        ] {
            #expect(ContentRange(text) == nil, "\(text)")
        }
    }

    @Test func partsAreJoinedWhereTheyMeet() throws {
        let bytes: [UInt8] = Array(0..<10)
        func part(_ range: Range<Int>, of length: Int? = 10) throws -> PartialContent {
            try #require(PartialContent(Array(bytes[range]), at: ContentRange(range, of: length)))
        }
        var content = try part(2..<4)
        #expect(try content.add(part(6..<8)) && content.byteCount == 4 && content.whole == nil)
        #expect(content.content(of: .from(2, through: 3))?.bytes == [2, 3])
        #expect(content.content(of: .from(2, through: 6)) == nil)
        #expect(try content.add(part(3..<7)) && content.content(of: .from(2, through: 7))?.bytes == Array(2..<8))
        #expect(try content.add(part(0..<2)) && content.add(part(8..<10)))
        #expect(content.whole == bytes)
        #expect(try !content.add(part(0..<1, of: 9)))
        #expect(PartialContent([1], at: ContentRange(0..<2, of: 2)) == nil)
        var unknown = try part(2..<4, of: nil)
        #expect(unknown.content(of: .last(1)) == nil && unknown.content(of: .from(2, through: nil)) == nil)
        #expect(unknown.content(of: .from(3, through: 3))?.range == ContentRange(3..<4, of: nil))
        #expect(try unknown.add(part(4..<10)) && unknown.completeLength == 10)
    }

    @Test func partsThatNowhereMeetAreBounded() throws {
        func part(_ start: Int) throws -> PartialContent {
            try #require(PartialContent([1], at: ContentRange(start..<start + 1, of: 1000)))
        }
        var content = try part(0)
        for index in 1..<PartialContent.maximumPartCount { #expect(try content.add(part(2 * index))) }
        #expect(try !content.add(part(999)) && content.byteCount == PartialContent.maximumPartCount)
        #expect(try content.add(part(1)), "what joins two of them makes room")
        #expect(try content.add(part(999)))
    }

    @Test func nominatedFieldsAreComparedByTheirMeaning() {
        func selection(_ vary: String, _ request: HTTPFields) -> VarySelection {
            VarySelection([.vary: vary], request: request)
        }
        let gzip = selection("Accept-Encoding", [.acceptEncoding: "gzip, br;q=0.5"])
        #expect(gzip.matches([.acceptEncoding: "BR; q=0.5,gzip"]))
        #expect(!gzip.matches([.acceptEncoding: "gzip"]) && !gzip.matches([:]))
        let language = selection("accept-language", [.acceptLanguage: "de, en"])
        #expect(language.matches([.acceptLanguage: "DE,EN"]) && !language.matches([.acceptLanguage: "en, de"]))
        let cookie = selection("Cookie", [:])
        #expect(cookie.matches([:]) && !cookie.matches([.cookie: ""]))
        let agent = selection("User-Agent", [.userAgent: "A (b, c)"])
        #expect(!agent.matches([.userAgent: "a (b, c)"]) && agent.matches([.userAgent: "A (b, c)"]))
        var lines = HTTPFields()
        lines[values: .cookie] = ["a=1", "b=2"]
        #expect(selection("Cookie", lines).matches([.cookie: "a=1, b=2"]))
    }

    @Test(arguments: ["*", "Accept, *", "Accept, b@d", "*, Accept"])
    func varyThatNamesMoreThanFieldsMatchesNothing(_ vary: String) {
        #expect(!VarySelection([.vary: vary], request: [:]).matches([:]))
        #expect(VarySelection([.vary: vary], request: [:]).matchesNothing)
    }

    @Test func excessivelyLongVaryMatchesNothing() {
        func selection(_ count: Int) -> VarySelection {
            VarySelection([.vary: (1...count).map { "x-\($0)" }.joined(separator: ",")], request: [:])
        }
        #expect(selection(VarySelection.maximumNameCount).matches([:]))
        #expect(selection(VarySelection.maximumNameCount + 1).matchesNothing)
        #expect(selection(16_000).matchesNothing && !selection(16_000).matches([:]))
        var lines = HTTPFields()
        lines[values: .vary] = (1...100).map { "x-\($0)" }
        #expect(VarySelection(lines, request: [:]).matchesNothing)
    }

    @Test func emptyVaryNominatesNothing() {
        #expect(VarySelection([.vary: " , "], request: [:]).isEmpty)
        #expect(VarySelection([.vary: ""], request: [:]).matches([.accept: "a"]))
    }

    @Test func equivalentTargetsAreOne() throws {
        func uri(_ scheme: String, _ authority: String, _ path: String?) -> HTTPCacheURI {
            HTTPCacheURI(HTTPRequest(method: .get, scheme: scheme, authority: authority, path: path))
        }
        let plain = uri("https", "a.test", "/x~y?q=%2F")
        #expect(uri("HTTPS", "A.test:443", "/x%7ey?q=%2f") == plain)
        #expect(uri("https", "a.test:", "/x~y?q=%2F") == plain)
        #expect(uri("http", "a.test:80", nil) == uri("http", "a.test", "/"))
        #expect(uri("http", "a.test", "?q") == uri("http", "a.test", "/?q"))
        #expect(uri("http", "a.test", "/A") != uri("http", "a.test", "/a"))
        #expect(uri("http", "a.test:443", "/") != uri("http", "a.test", "/"))
        #expect(uri("http", "a.test", "/%zz%4").text == "http://a.test/%25zz%254")
        #expect(uri("http", "a.test", "/a b") == uri("http", "A.test", "/%61%20b"))
        #expect(uri("http", "a.test", "/") != uri("http", "a.test.", "/"))
    }

    @Test func referenceLeadsNowhereOutsideItsOrigin() {
        let head = HTTPRequest(method: .post, scheme: "https", authority: "a.test", path: "/x/y?z")
        func target(_ reference: String) -> String? { HTTPCacheURI(URIReference(reference.utf8), from: head)?.text }
        #expect(target("q") == "https://a.test/x/q")
        #expect(target("/r?s=%20#t") == "https://a.test/r?s=%20")
        #expect(target("https://a.test:443/u") == "https://a.test/u")
        #expect(target("//A.test/u/../my%2Ffile x") == "https://a.test/my%2Ffile%20x")
        for other in [
            "https://b.test/x", "http://a.test/x", "https://a.test:444/x", "//b.test/", "//a.test./", "mailto:a@b",
            "http://[",
        ] {
            #expect(target(other) == nil, "\(other)")
        }
    }
}
