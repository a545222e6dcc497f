import HTTPTypes
import Testing

@testable import Runway

/// Which request follows a redirect (RFC 9110 §15.4).
struct RedirectedRequestTests {
    private func request(
        _ method: HTTPRequest.Method = .get,
        _ url: (scheme: String, authority: String, path: String) = (
            "https", "a.test", "/v1/list?city=x"
        ), body: RequestBody = .none, fields: HTTPFields = [:]
    ) -> Request {
        Request(
            head: HTTPRequest(
                method: method, scheme: url.scheme, authority: url.authority, path: url.path, headerFields: fields),
            body: body)
    }

    private static let methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete, .options]

    @Test(arguments: [301, 302, 303, 307, 308], methods)
    func methodAfterARedirect(_ code: Int, _ method: HTTPRequest.Method) throws {
        let body: RequestBody = [.get, .head].contains(method) ? .none : .bytes([1, 2])
        let fields: HTTPFields = [.contentType: "text/plain", .accept: "text/html"]
        let following = try #require(
            request(method, body: body, fields: fields).redirected(by: HTTPResponse.Status(code: code), to: "/next"))
        let becomesGet = method != .head && (code == 303 || (code < 303 && method == .post))
        #expect(following.head.method == (becomesGet ? .get : method))
        #expect(following.body.byteCount == (becomesGet ? 0 : body.byteCount))
        #expect(following.head.headerFields[.contentType] == (becomesGet ? nil : "text/plain"))
        #expect(following.head.headerFields[.accept] == "text/html")
        #expect(following.url == "https://a.test/next")
    }

    @Test(arguments: [300, 304, 305, 306, 309, 399])
    func otherStatusesAreNotFollowed(_ code: Int) {
        #expect(request().redirected(by: HTTPResponse.Status(code: code), to: "/next") == nil)
    }

    @Test(arguments: [
        ("https://b.test/x", "https://b.test/x"),
        ("https://b.test", "https://b.test/"),
        ("HTTPS://B.test:8443/x?y=%20z", "https://B.test:8443/x?y=%20z"),
        ("/abs?q=1", "https://a.test/abs?q=1"),
        ("sibling", "https://a.test/v1/sibling"),
        ("./sibling/", "https://a.test/v1/sibling/"),
        ("../up", "https://a.test/up"),
        ("../../../up", "https://a.test/up"),
        ("/a/./b/../c", "https://a.test/a/c"),
        ("?page=2", "https://a.test/v1/list?page=2"),
        ("//c.test/y", "https://c.test/y"),
        ("/x#part", "https://a.test/x"),
        ("#part", "https://a.test/v1/list?city=x"),
        ("https://[2001:db8::1]:444/z", "https://[2001:db8::1]:444/z"),
        ("https://[::1]", "https://[::1]/"),
        ("/%E4%B8%AD?a=%26", "https://a.test/%E4%B8%AD?a=%26"),
        ("/中 文", "https://a.test/%E4%B8%AD%20%E6%96%87"),
        ("/a?b=c?d", "https://a.test/a?b=c?d"),
        ("https://例え.test/x", "https://xn--r8jz45g.test/x"),
        ("https://xn--r8jz45g.test/x", "https://xn--r8jz45g.test/x"),
        ("https://b.test:/x", "https://b.test/x"),
        ("", "https://a.test/v1/list?city=x"),
        ("https://b.test/x/../y", "https://b.test/y"),
        ("//c.test/./y/..", "https://c.test/"),
        ("/f?sig=a%2Fb%3D&name=my file.pdf", "https://a.test/f?sig=a%2Fb%3D&name=my%20file.pdf"),
    ])
    func targetIsResolvedAgainstTheRequest(_ location: String, _ url: String) throws {
        #expect(try #require(request().redirected(by: .found, to: location)).url == url)
    }

    @Test(arguments: [
        "https://[localhost]:1/x", "https://[127.0.0.1]/x", "http:g", "http://a.test/x", "http://b.test",
        "ftp://a.test/x", "file:///etc/passwd", "javascript:alert(1)",
        "data:,x",
        "mailto:a@b.test", "https://", "https:///x", "https://user@b.test/", "https://user:secret@b.test/",
        "https://:@b.test/",
        "https://b.test:0/", "https://b.test:65536/", "https://b.test:99999999999999999999/", "https://b.test:x/",
        "https://[::1/", "https://b .test/", "//", "https://b.test\r\n.evil/", "https://\u{0}/",
    ])
    func targetThatMayNotBeFollowedIsNone(_ location: String) {
        #expect(request().redirected(by: .found, to: location) == nil, "\(location)")
    }

    @Test func plainRequestMayGoOnPlainOrSecure() throws {
        let plain = request(.get, ("http", "a.test", "/"))
        #expect(try #require(plain.redirected(by: .found, to: "http://b.test/x")).url == "http://b.test/x")
        #expect(try #require(plain.redirected(by: .found, to: "https://a.test/x")).url == "https://a.test/x")
        #expect(try #require(plain.redirected(by: .found, to: "/x")).url == "http://a.test/x")
    }

    @Test func ipv6OriginIsUnchanged() throws {
        let following = request(.get, ("https", "[::1]:8443", "/a")).redirected(by: .found, to: "b?c=d")
        #expect(try #require(following).url == "https://[::1]:8443/b?c=d")
    }

    private static let credentials: HTTPFields = [
        .authorization: "Bearer hunter2", .proxyAuthorization: "Basic hunter2", .cookie: "session=hunter2",
    ]

    @Test(arguments: [
        ("/x", true), ("https://a.test/x", true), ("https://A.TEST/x", true), ("https://a.test:443/x", true),
        ("https://a.test:8443/x", false), ("https://b.test/x", false), ("https://sub.a.test/x", false),
        ("https://a.test.evil.test/x", false), ("//b.test/x", false), ("https://a.test./x", false),
    ])
    func credentialsAreCarriedWithinOneOriginAlone(_ location: String, _ isSameOrigin: Bool) throws {
        var fields = Self.credentials
        fields[.accept] = "text/html"
        for name in ["Signature", "Signature-Input", "Runway-Digest", "Runway-Sealed-Key"] {
            fields[try #require(HTTPField.Name(name))] = "hunter2"
        }
        let following = try #require(request(.get, fields: fields).redirected(by: .temporaryRedirect, to: location))
        #expect(following.head.headerFields.count == (isSameOrigin ? 8 : 1))
        #expect(following.head.headerFields[.accept] == "text/html")
    }

    @Test func secretFieldsAndHostStayAtTheirOrigin() throws {
        var fields: HTTPFields = [.accept: "text/html"]
        let own = try #require(HTTPField.Name("X-Own-Secret"))
        let host = try #require(HTTPField.Name("Host"))
        for name in Redaction.secretHeaderFields.union([own, host]) { fields[name] = "1" }
        let abroad = request(fields: fields).redirected(
            by: .found, to: "https://b.test/x", authentication: CallAuthentication(fields: [own]))
        #expect(abroad?.head.headerFields == [.accept: "text/html"])
        #expect(request(fields: fields).redirected(by: .found, to: "/x")?.head.headerFields == fields)
    }

    @Test func changeOfSchemeIsAChangeOfOrigin() throws {
        let plain = request(.get, ("http", "a.test", "/"), fields: Self.credentials)
        #expect(try #require(plain.redirected(by: .found, to: "https://a.test/")).head.headerFields.isEmpty)
    }

    @Test func credentialsDroppedOnceDoNotComeBack() throws {
        let away = try #require(request(.get, fields: Self.credentials).redirected(by: .found, to: "https://b.test/"))
        let back = try #require(away.redirected(by: .found, to: "https://a.test/"))
        #expect(back.head.headerFields.isEmpty)
    }

    @Test func unrepeatableBodyEndsTheRedirectChain() throws {
        let once = RequestBody.stream(BodyStream([1]), byteCount: 1, isReplayable: false)
        let again = RequestBody.stream(BodyStream([1]), byteCount: 1, isReplayable: true)
        #expect(request(.put, body: once).redirected(by: .temporaryRedirect, to: "/x") == nil)
        #expect(request(.put, body: once).redirected(by: .found, to: "/x") == nil)
        #expect(request(.post, body: once).redirected(by: .permanentRedirect, to: "/x") == nil)
        #expect(try #require(request(.post, body: once).redirected(by: .seeOther, to: "/x")).body.byteCount == 0)
        #expect(
            try #require(request(.put, body: again).redirected(by: .temporaryRedirect, to: "/x")).body.byteCount == 1)
    }
}

extension Request {
    fileprivate func redirected(
        by status: HTTPResponse.Status, to location: String,
        authentication: CallAuthentication = CallAuthentication()
    ) -> Request? {
        redirected(by: status, to: URIReference(location.utf8), authentication: authentication)
    }
}
