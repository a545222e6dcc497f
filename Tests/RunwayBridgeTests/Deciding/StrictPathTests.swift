import Testing

@testable import RunwayBridge

struct StrictPathTests {
    @Test(arguments: [
        ("orders", ["orders"]), ("/orders/7", ["orders", "7"]), ("orders/a%20b", ["orders", "a b"]),
        ("orders/%E4%B8%8A", ["orders", "上"]), ("icon@2x.png", ["icon@2x.png"]), ("a/...b", ["a", "...b"]),
    ]) func plainPathsAreDecoded(text: String, segments: [String]) {
        #expect(StrictPath(text)?.segments == segments)
    }

    @Test(arguments: [
        "", "/", "//", "//evil.example/orders", "orders/", "orders//7", "..", "orders/..", "orders/../admin",
        "orders/./7", "orders/%2e%2e/admin", "orders/%2E./admin", "orders/.%2e/admin", "orders/%252e%252e/admin",
        "orders%2f..%2fadmin", "orders%2Fadmin", "orders/%5c..%5cadmin", "orders\\..\\admin", "orders/..;/admin",
        "orders;v=1", "orders/%3b", "orders?admin", "orders#admin", "orders/%3Fadmin", "orders/%23", "orders/%00",
        "orders/\u{0}", "orders/%0d%0aHost:", "orders/\n", "orders/%7f", "orders/%", "orders/%2", "orders/%zz",
        "orders/%FF", "orders/%C0%AE%C0%AE/admin", "orders/%25", "orders/.. /admin", "orders/...", "orders/%20",
        "https://evil.example/orders", "orders/" + String(repeating: "a", count: 2048),
    ]) func ambiguousPathsAreRefused(text: String) {
        #expect(StrictPath(text) == nil)
    }

    @Test func prefixesAreComparedBySegments() throws {
        let prefix = try #require(StrictPath("orders/open"))
        for text in ["orders/open", "orders/open/7", "%6frders/open"] {
            #expect(StrictPath(text)?.isBelow(prefix) == true)
        }
        for text in ["orders", "orders/openly", "orders/Open", "user@orders/open", "a/orders/open"] {
            #expect(StrictPath(text)?.isBelow(prefix) == false)
        }
        // Equal as text, and not as bytes.
        let composed = try #require(StrictPath("caf\u{E9}"))
        #expect(StrictPath("cafe\u{301}")?.isBelow(composed) == false)
    }
}
