import HTTPTypes
import Testing

@testable import RunwaySignatures

/// The derived components: the examples of RFC 9421 §2.2, and what is refused.
struct DerivedComponentTests {
    private func context(_ line: String, host: String = "www.example.com", scheme: String = "https") throws
        -> SignatureContext
    {
        SignatureContext(try request("\(line) HTTP/1.1\nHost: \(host)\n", scheme: scheme))
    }

    private func value(_ component: ComponentIdentifier, _ context: SignatureContext) throws -> String {
        String(try #require(lines(context, component).first).dropFirst(component.serialized.utf8.count + 2))
    }

    @Test func examplesOfTheRFCAreReproduced() throws {
        let post = try context("POST /path?param=value")
        #expect(try lines(post, .method) == [#""@method": POST"#])
        #expect(try lines(post, .targetURI) == [#""@target-uri": https://www.example.com/path?param=value"#])
        #expect(try lines(post, .authority) == [#""@authority": www.example.com"#])
        #expect(try lines(context("POST /path?param=value", scheme: "http"), .scheme) == [#""@scheme": http"#])
        #expect(try lines(post, .path) == [#""@path": /path"#])
        let query = try context("GET /path?param=value&foo=bar&baz=bat%2Dman")
        #expect(try lines(query, .query) == [#""@query": ?param=value&foo=bar&baz=bat%2Dman"#])
        #expect(try lines(context("POST /path?queryString"), .query) == [#""@query": ?queryString"#])
        #expect(try lines(context("POST /path"), .query) == [#""@query": ?"#])
    }

    @Test func requestTargetsHaveFourForms() throws {
        #expect(try value(.requestTarget, context("POST /path?param=value")) == "/path?param=value")
        #expect(
            try value(.requestTarget, context("GET https://www.example.com/path?param=value"))
                == "https://www.example.com/path?param=value")
        #expect(try value(.requestTarget, context("CONNECT www.example.com:80")) == "www.example.com:80")
        #expect(try value(.requestTarget, context("OPTIONS *")) == "*")
    }

    @Test func queryParametersAreDecodedAndEncodedAnew() throws {
        let plain = try context("GET /path?param=value&foo=bar&baz=batman&qux=")
        #expect(
            try lines(plain, .queryParameter("baz"), .queryParameter("qux"), .queryParameter("param")) == [
                #""@query-param";name="baz": batman"#, #""@query-param";name="qux": "#,
                #""@query-param";name="param": value"#,
            ])
        let odd = try context(
            "GET /parameters?var=this%20is%20a%20big%0Amultiline%20value&bar=with+plus+whitespace&fa%C3%A7ade%22%3A%20=something"
        )
        #expect(
            try lines(odd, .queryParameter("var"), .queryParameter("bar"), .queryParameter("façade\": ")) == [
                #""@query-param";name="var": this%20is%20a%20big%0Amultiline%20value"#,
                #""@query-param";name="bar": with%20plus%20whitespace"#,
                #""@query-param";name="fa%C3%A7ade%22%3A%20": something"#,
            ])
    }

    @Test(arguments: [
        ("a=%7e~", "%7E%7E"), ("a=%", "%25"), ("a=%zz", "%25zz"), ("a=b=c", "b%3Dc"), ("&&a=1", "1"), ("a", ""),
        ("a=%ff", "%EF%BF%BD"), ("%61=x", "x"), ("a=*-._", "*-._"),
    ])
    func oddQueriesFollowTheURLStandard(_ query: String, _ expected: String) throws {
        #expect(try value(.queryParameter("a"), context("GET /?\(query)")) == expected)
    }

    @Test func repeatedAndAbsentQueryParametersAreRefused() throws {
        let context = try context("GET /?a=1&b=2&%61=1")
        let (repeated, absent) = (ComponentIdentifier.queryParameter("a"), ComponentIdentifier.queryParameter("c"))
        #expect(throws: SignatureError(.repeatedQueryParameter, repeated.serialized)) { try lines(context, repeated) }
        #expect(throws: SignatureError(.missing, absent.serialized)) { try lines(context, absent) }
        #expect(try value(.queryParameter("b"), context) == "2")
    }

    @Test(arguments: [
        ("/a%2Fb%c3%A4//", "/a%2Fb%c3%A4//", "?"), ("/?", "/", "?"), ("/?a?b", "/", "?a?b"),
        ("/a;b=1?%61=+", "/a;b=1", "?%61=+"),
        ("https://other.example", "/", "?"), ("https://other.example?x", "/", "?x"),
        ("http://o.example/p?q", "/p", "?q"),
    ])
    func pathAndQueryAreTakenAsSent(_ target: String, _ path: String, _ query: String) throws {
        let context = try context("GET \(target)")
        #expect(try value(.path, context) == path)
        #expect(try value(.query, context) == query)
    }

    @Test(arguments: [
        ("WWW.Example.COM", "https", "www.example.com"), ("a.example:443", "https", "a.example"),
        ("a.example:80", "https", "a.example:80"), ("a.example:80", "http", "a.example"),
        ("a.example:", "https", "a.example"),
        ("[2001:DB8::1]:443", "HTTPS", "[2001:db8::1]"), ("[::1]", "https", "[::1]"),
        ("a.example:8443", "https", "a.example:8443"),
    ])
    func authoritiesAreNormalised(_ host: String, _ scheme: String, _ expected: String) throws {
        #expect(try value(.authority, context("GET /", host: host, scheme: scheme)) == expected)
        #expect(
            try value(.targetURI, context("GET /", host: host, scheme: scheme))
                == "\(scheme.lowercased())://\(expected)/")
    }

    @Test func absoluteTargetsDecideOverHost() throws {
        let context = try context("GET http://Other.example:80/x?y", host: "a.example")
        #expect(try value(.authority, context) == "other.example")
        #expect(try value(.scheme, context) == "http")
        #expect(try value(.targetURI, context) == "http://other.example/x?y")
    }

    @Test(arguments: ["", "user@a.example", ":443"])
    func authoritiesWithoutAHostAreRefused(_ host: String) throws {
        #expect(throws: SignatureError(.missing, "\"@authority\"")) {
            try lines(context("GET /", host: host), .authority)
        }
    }

    @Test func charactersOutsideASCIIAreRefused() throws {
        for (component, path) in [(ComponentIdentifier.path, "/fä"), (.query, "/?ä"), (.targetURI, "/é")] {
            let context = SignatureContext(
                HTTPRequest(method: .get, scheme: "https", authority: "a.example", path: path))
            #expect(throws: SignatureError(.invalidValue, component.serialized)) { try lines(context, component) }
        }
        // The sign for kelvin is K in upper case, and k in lower case.
        let kelvin = SignatureContext(
            HTTPRequest(method: .get, scheme: "https", authority: "\u{212A}.example", path: "/"))
        #expect(throws: SignatureError(.invalidValue, "\"@authority\"")) { try lines(kelvin, .authority) }
    }

    @Test(arguments: ["OPTIONS *", "CONNECT www.example.com:80"])
    func targetsWithoutAPathHaveNone(_ line: String) throws {
        for component in [ComponentIdentifier.path, .query, .targetURI, .queryParameter("a")] {
            #expect(throws: SignatureError(.missing, component.serialized)) { try lines(context(line), component) }
        }
    }

    @Test func statusBelongsToResponsesTheRestToRequests() throws {
        let request = try context("GET /")
        let response = SignatureContext(
            HTTPResponse(status: .init(code: 503)), to: try RunwaySignaturesTests.request("GET /x HTTP/1.1"))
        #expect(try lines(response, .status, .path.ofRequest) == [#""@status": 503"#, #""@path";req: /x"#])
        for (context, component) in [
            (request, ComponentIdentifier.status), (request, .status.ofRequest), (response, .status.ofRequest),
            (response, .method),
            (request, .method.ofRequest), (response, .queryParameter("a")),
        ] {
            #expect(throws: SignatureError(.otherMessage, component.serialized)) { try lines(context, component) }
        }
    }

    @Test func parametersOfFieldsDoNotApply() throws {
        let context = try context("GET /?a=1")
        for component in [
            ComponentIdentifier.method.strict, .path.asBytes, .query.inTrailer, .authority.member("a"),
        ] {
            #expect(throws: SignatureError(.unknownParameter, component.serialized)) { try lines(context, component) }
        }
        let nameless = try ComponentIdentifier(name: "@query-param")
        #expect(throws: SignatureError(.unknownParameter, nameless.serialized)) { try lines(context, nameless) }
        let unknown = try ComponentIdentifier(name: "@method", parameters: [.unknown(";x")])
        #expect(throws: SignatureError(.unknownParameter, unknown.serialized)) { try lines(context, unknown) }
    }
}
