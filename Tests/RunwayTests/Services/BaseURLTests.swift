import Runway
import RunwayTesting
import Testing

struct BaseURLTests {
    private func layer(_ text: String) -> StubbedLayer {
        let layer = StubbedLayer()
        layer.network.configure(Library.self) { $0.baseURLs[.release] = text }
        return layer
    }

    @Test(arguments: [
        ("https://h.test", "https://h.test/query"),
        ("https://h.test/", "https://h.test/query"),
        ("https://h.test//", "https://h.test/query"),
        ("HTTPS://H.test/V1/", "https://H.test/V1/query"),
        ("http://h.test:80/a/b", "http://h.test:80/a/b/query"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080/query"),
        ("https://[::1]:8443/v2", "https://[::1]:8443/v2/query"),
        ("https://h.test:65535", "https://h.test:65535/query"),
        ("https://xn--fsqu00a.test/a%20b", "https://xn--fsqu00a.test/a%20b/query"),
        ("https://例え.test", "https://xn--r8jz45g.test/query"),
    ])
    func wellFormedBaseURLIsTakenApart(_ text: String, _ url: String) async throws {
        #expect(try await layer(text).request(of: QueryCall()).url == url)
    }

    @Test(arguments: [
        "", " ", "h.test", "//h.test", "/v1", "https:", "https://", "https:///v1", "ftp://h.test", "file:///etc/passwd",
        "https://h.test:0", "https://h.test:65536", "https://h.test:99999999999999999999", "https://h.test:x",
        "https://h.test:-1", "https://h test", "https://h.test/a b", " https://h.test", "https://h.test\n",
        "https://[::1", "https://h.test/?a=b", "https://h.test?", "https://h.test#x",
        "https://h.test/#",
        "https://@h.test", "https://h.test\\@evil.test", "https://h.test/%zz", "https://h.test/%",
        "https://h.test/../x",
        "https://h<.test",
    ])
    func malformedBaseURLFailsCallsThatNeedIt(_ text: String) async throws {
        let layer = layer(text)
        let error = try await layer.failure(of: QueryCall())
        #expect(error.kind == .invalidConfiguration)
        #expect(error.step == .assembling)
        #expect(error.detail.contains("of the service \"library\" (release) can't be read"))
        #expect(layer.transport.requests.isEmpty)
    }

    @Test func credentialsInBaseURLsAreRefusedUnshown() async throws {
        let error = try await layer("https://user:hunter2@h.test/v1").failure(of: QueryCall())
        #expect(error.kind == .invalidConfiguration)
        #expect(!"\(error)".contains("hunter2"))
        #expect("\(error)".contains("@h.test/v1\""))
    }
}
