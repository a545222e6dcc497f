import Foundation
import Testing

@testable import RunwayBridge

struct BundleResponseTests {
    private let bridge = Bridge(
        capabilities: [],
        bundles: [
            BundleFiles("help") { path in
                ["index.html": Data("<p>home".utf8), "a/b.JS": Data("0123456789".utf8), "data": Data()][path]
            }
        ])

    private func response(_ path: String, method: String = "GET", range: String? = nil) -> BundleResponse {
        bridge.response(to: method, of: "runway-bundle://help\(path)", range: range)
    }

    @Test(arguments: [
        ("/", "text/html; charset=utf-8", "<p>home"), ("", "text/html; charset=utf-8", "<p>home"),
        ("/index.html?a=/b#c", "text/html; charset=utf-8", "<p>home"),
        ("/a/b.JS", "text/javascript; charset=utf-8", "0123456789"), ("/data", "application/octet-stream", ""),
    ]) func filesHaveTheirTypes(path: String, type: String, text: String) {
        let response = response(path)
        #expect(response.status == 200 && response.body == Data(text.utf8))
        #expect(response.headerFields["Content-Type"] == type)
        #expect(response.headerFields["Content-Length"] == "\(text.utf8.count)")
    }

    @Test(arguments: ["/", "/absent", "/../help"]) func everyResponseIsStrict(path: String) {
        let fields = response(path).headerFields
        #expect(fields["Content-Security-Policy"]?.hasPrefix("default-src 'none'; script-src 'self';") == true)
        #expect(fields["Content-Security-Policy"]?.contains("unsafe") == false)
        #expect(fields["X-Content-Type-Options"] == "nosniff" && fields["Cache-Control"] == "no-store")
    }

    @Test(arguments: [
        "/absent", "/a", "/a/", "/a//b.JS", "/a/../index.html", "/%2e%2e/index.html", "/a%2Fb.JS", "/.hidden",
        "/a/.git/config", "/index.html%00", "//index.html",
    ]) func otherPathsAreNotFound(path: String) {
        #expect(response(path).status == 404)
    }

    @Test(arguments: [
        "https://help", "runway-bundle://other", "runway-bundle://help.", "runway-bundle://a@help", "help", "",
    ])
    func otherOriginsAreNotFound(origin: String) {
        #expect(bridge.response(to: "GET", of: "\(origin)/index.html", range: nil).status == 404)
    }

    @Test(
        arguments: [
            ("bytes=2-4", 206, "234", "bytes 2-4/10"), ("bytes=7-", 206, "789", "bytes 7-9/10"),
            ("bytes=-2", 206, "89", "bytes 8-9/10"), ("bytes=5-99", 206, "56789", "bytes 5-9/10"),
            ("bytes=10-", 416, "", "bytes */10"), ("bytes=4-2", 200, "0123456789", nil),
            ("bytes=0-1,3-4", 200, "0123456789", nil), ("lines=0-1", 200, "0123456789", nil),
        ] as [(String, Int, String, String?)])
    func rangesAreParts(range: String, status: Int, text: String, position: String?) {
        let response = response("/a/b.JS", range: range)
        #expect(response.status == status && response.body == Data(text.utf8))
        #expect(response.headerFields["Content-Range"] == position)
    }

    @Test func onlyReadingIsAllowed() {
        let head = response("/a/b.JS", method: "HEAD")
        #expect(head.status == 200 && head.body.isEmpty && head.headerFields["Content-Length"] == "10")
        #expect(response("/", method: "POST").status == 405)
    }

    @Test func linksOutOfTheFolderAreNotFollowed() throws {
        let folder = URL.temporaryDirectory.appending(path: "runway-bundle-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let inner = folder.appending(path: "help/pages")
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
        try Data("secret".utf8).write(to: folder.appending(path: "secret.txt"))
        try Data("page".utf8).write(to: inner.appending(path: "page.txt"))
        try FileManager.default.createSymbolicLink(
            at: inner.appending(path: "out.txt"), withDestinationURL: folder.appending(path: "secret.txt"))
        let files = BundleFiles("help", in: folder.appending(path: "help"))
        #expect(try files.read("pages/page.txt") == Data("page".utf8))
        for path in ["pages/out.txt", "pages", "absent.txt"] { #expect(try files.read(path) == nil) }
    }
}
