import HTTPTypes
import Testing

@testable import Runway

/// References as RFC 3986 §5 resolves them.
struct URIReferenceTests {
    /// RFC 3986 §5.3, without the query of the base: a reference as text again.
    private func resolved(_ reference: String, against base: String = "http://a/b/c/d;p?q") -> String {
        let uri = URIReference(reference.utf8).resolved(against: URIReference(base.utf8))
        func text(_ before: String, _ octets: ArraySlice<UInt8>?, _ after: String = "") -> String {
            octets.map { before + String(decoding: $0, as: UTF8.self) + after } ?? ""
        }
        return text("", uri.scheme, ":") + text("//", uri.authority) + text("", uri.path) + text("?", uri.query)
            + text("#", uri.fragment)
    }

    @Test(arguments: [
        ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
        ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
        ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
        ("../../g", "http://a/g"),
    ])
    func normalExamplesResolve(_ reference: String, _ target: String) {
        #expect(resolved(reference) == target)
    }

    @Test(arguments: [
        ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g#s/./x"),
        ("g#s/../x", "http://a/b/c/g#s/../x"), ("http:g", "http:g"),
    ])
    func abnormalExamplesResolve(_ reference: String, _ target: String) {
        #expect(resolved(reference) == target)
    }

    @Test(arguments: [
        ("http://b/x/../y", "http://b/y"), ("http://b/./y/.", "http://b/y/"), ("http://b/../../y", "http://b/y"),
        ("//b/x/../y", "http://b/y"), ("//b/..", "http://b/"), ("/x//../y", "http://a/x/y"),
        ("a/../../../..", "http://a/"),
    ])
    func dotSegmentsAreRemoved(_ reference: String, _ target: String) {
        #expect(resolved(reference) == target)
    }

    @Test func baseWithoutAPathHasOneSlash() {
        #expect(resolved("g", against: "http://a") == "http://a/g")
        #expect(resolved("?y", against: "http://a") == "http://a?y")
    }

    private func path(_ location: [UInt8]) throws -> String {
        let head = HTTPRequest(method: .get, scheme: "https", authority: "a.test", path: "/v1/list")
        return try HTTPTarget(URIReference(location), from: head).path
    }

    /// RFC 3986 §3.3, §3.4: exactly these octets stand in a path and in a query by themselves.
    private static let plain =
        Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=:@/?".utf8)

    @Test(arguments: UInt8.min...UInt8.max)
    func noOctetIsLostOrLeftIllegal(_ octet: UInt8) throws {
        let hex = String(octet, radix: 16, uppercase: true)
        let escape = octet < 16 ? "%0\(hex)" : "%\(hex)"
        let written = Self.plain.contains(octet) ? String(decoding: [octet], as: UTF8.self) : escape
        let signed = Array("a%2Fb%3d".utf8)
        for prefix in ["/p-", "/p?q="] {
            // A number sign begins the fragment, which is not sent.
            let expected =
                octet == UInt8(ascii: "#") ? "\(prefix)a%2Fb%3d" : "\(prefix)a%2Fb%3d\(written)a%2Fb%3d"
            #expect(try path(Array(prefix.utf8) + signed + [octet] + signed) == expected)
            // An escape of any octet stays, in either case of its digits.
            for valid in [escape, escape.lowercased()] {
                #expect(try path(Array("\(prefix)\(valid)  x".utf8)) == "\(prefix)\(valid)%20%20x")
            }
        }
    }

    @Test(arguments: [
        ("/f?sig=a%2Fb%3D&name=my file.pdf", "/f?sig=a%2Fb%3D&name=my%20file.pdf"),
        ("/f?sig=a%2Fb%3D&x[0]=1|2", "/f?sig=a%2Fb%3D&x%5B0%5D=1%7C2"), ("/%E4%B8%AD/文", "/%E4%B8%AD/%E6%96%87"),
        ("/a%2e%2e/%2E%2E/b c", "/a%2e%2e/%2E%2E/b%20c"), ("/100%/%zz%4", "/100%25/%25zz%254"),
    ])
    func noEscapeIsEscapedAgain(_ location: String, _ expected: String) throws {
        #expect(try path(Array(location.utf8)) == expected)
    }

    @Test func octetsNotInUTF8StayTheSame() throws {
        #expect(try path(Array("/caf".utf8) + [0xE9, 0xFF] + Array("?x=%E9".utf8)) == "/caf%E9%FF?x=%E9")
    }
}
