import Testing

@testable import RunwayBridge

struct OriginTests {
    @Test(arguments: [
        "https://m.example.com", "https://m.example.com:8443", "https://xn--bcher-kva.example",
        "https://[2001:db8::1]:8443",
        "http://localhost:8080", "http://127.0.0.1:1", "http://[::1]",
    ])
    func originsOfServersAreRead(_ text: String) {
        #expect(Origin(text)?.description == text)
    }

    @Test(arguments: [
        "", "null", "://", "https://", "https://m.example.com/", "https://m.example.com/path",
        "https://user@m.example.com",
        "https://m.example.com@evil.example", "https://m.example.com.", "https://.example.com", "https://*.example.com",
        "https://M.example.com", "HTTPS://m.example.com", "https://bücher.example", "https://m.example.com:443",
        "https://m.example.com:08443", "https://m.example.com:0", "https://m.example.com:70000",
        "https://m.example.com:",
        "https://m.example.com:+80", "http://m.example.com", "http://localhost:80", "http://localhost.evil.example",
        "http://127.0.0.2", "file://", "ftp://m.example.com", "data:text/html,x", "blob:https://m.example.com",
        "https://m.example.com https://evil.example", "https://m.example.com\u{0}", "https://m.example.com\n",
        "https://[::1", "https://]", "runway-bundle://shop", "https://m.example.com?x", "https://m.example.com#x",
    ])
    func otherTextsAreNoOrigins(_ text: String) {
        #expect(Origin(text) == nil)
    }

    @Test(arguments: [
        "https://m.example.com.evil.example", "https://evil-m.example.com", "https://evilm.example.com",
        "https://example.com", "https://a.m.example.com", "https://m.example.com:8443", "https://m.example.com.",
        "https://M.EXAMPLE.COM", "https://m.example.com@evil.example", "https://m.examp1e.com",
        "https://m.xn--exmple-cua.com", "http://m.example.com", "runway-bundle://m.example.com", "null",
    ])
    func lookAlikesAreGrantedNothing(_ text: String) throws {
        var page = PageFixture(origin: text)
        let actions = page.call("echo", input: #"{"text":""}"#)
        #expect(actions.started.isEmpty)
        #expect(["notGranted", "opaqueOrigin"].contains(actions.replies.first?.errorKind))
    }

    @Test func bundlesAreOriginsOfTheirOwn() {
        #expect(Origin.bundle("shop").description == "runway-bundle://shop")
        #expect(Origin.bundle("shop") == Origin(serialized: "runway-bundle://shop"))
        #expect(Origin(serialized: "runway-bundle://shop:80") == nil)
        #expect(Origin.bundle("shop") != Origin.bundle("shop-2"))
    }
}
