import HTTPTypes
import Testing

@testable import Runway

/// Which authorities can be called, and as what they are sent.
struct URIAuthorityTests {
    @Test(arguments: [
        ("a.test", "a.test"), ("A.test:8443", "A.test:8443"), ("a.test:", "a.test"), ("a.test:0443", "a.test:443"),
        ("a.test.", "a.test."), ("127.0.0.1:1", "127.0.0.1:1"), ("[::1]", "[::1]"),
        ("[2001:db8::7]:9", "[2001:db8::7]:9"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"), ("XN--BCHER-KVA.example", "XN--BCHER-KVA.example"),
        ("b\u{FC}cher.example:81", "xn--bcher-kva.example:81"), ("B\u{DC}CHER.example", "xn--bcher-kva.example"),
        ("b%C3%BCcher.example", "xn--bcher-kva.example"), ("fa\u{DF}.example", "xn--fa-hia.example"),
        ("\u{4F8B}\u{3048}\u{3002}test", "xn--r8jz45g.test"), ("a_b.test", "a_b.test"),
    ])
    func hostsAreSentInASCIIAndNotDecoded(_ text: String, _ sent: String) throws {
        #expect(try URIAuthority(text.utf8).text == sent)
    }

    @Test(arguments: [
        "", ":80", ".", "[localhost]", "[127.0.0.1]", "[::1", "::1]", "[::1]x", "[::1]x:80", "[v1.x]", "[zz]", "a b",
        "x%41", "x%2Fy", "a/b", "a\\b", "a\r\nb", "a\u{0}", "b\u{FC}%2Fx", "a%00",
    ])
    func invalidHostIsRefused(_ text: String) {
        #expect(throws: URIAuthority.Problem.host) { try URIAuthority(text.utf8) }
    }

    @Test func hostNotInUTF8IsNotCalled() {
        #expect(throws: URIAuthority.Problem.host) { try URIAuthority([0x62, 0xFC] + Array("cher.test".utf8)) }
    }

    @Test(arguments: ["-\u{FC}.test", "\u{FC}..test", "a\u{200D}b.test"])
    func hostWithoutAnALabelIsNotCalled(_ text: String) {
        #expect(throws: URIAuthority.Problem.internationalHost) { try URIAuthority(text.utf8) }
    }

    @Test(arguments: [
        "a.test:0", "a.test:65536", "a.test:x", "a.test:+80", "a.test:80:80", "[::1]:99999999999999999999",
    ])
    func invalidPortIsRefused(_ text: String) {
        #expect(throws: URIAuthority.Problem.port) { try URIAuthority(text.utf8) }
    }

    @Test(arguments: ["u@a.test", "u:p@a.test", "@a.test", ":@a.test", "a.test@"])
    func userInfoIsRefused(_ text: String) {
        #expect(throws: URIAuthority.Problem.userInfo) { try URIAuthority(text.utf8) }
    }

    @Test(arguments: [
        "localhost", "LOCALHOST", "localhost.", "a.b.localhost", "a.localhost.", "127.0.0.1", "127.255.1.2",
        "127.0.0.1.",
        "127.1", "0x7f.1", "2130706433", "[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::FFFF:7f00:1]",
    ])
    func loopbackHostsAreRecognised(_ host: String) {
        #expect(Origin(scheme: "http", host: host, port: 80).isLoopback)
        #expect(Origin(HTTPRequest(method: .get, scheme: "http", authority: "\(host):1", path: "/")).isLoopback)
    }

    @Test(arguments: [
        "localhost.test", "notlocalhost", "128.0.0.1", "127.0.0.1.test", "126.1", "[::2]", "[::ffff:128.0.0.1]", "[::]",
        "0.0.0.0", "", ".", "127.0.0.1 x",
    ])
    func otherHostsAreNotLoopback(_ host: String) {
        #expect(!Origin(scheme: "http", host: host, port: 80).isLoopback)
    }

    @Test(arguments: [("a.TEST", "A.test"), ("[::1]", "[0:0::1]"), ("[2001:DB8::7]", "[2001:db8:0::7]")])
    func spellingsOfAHostAreOneOrigin(_ one: String, _ other: String) {
        #expect(Origin(scheme: "https", host: one, port: 443) == Origin(scheme: "https", host: other, port: 443))
    }

    @Test(arguments: ["a.test.", "a.test..", "127.0.0.1.", "localhost."])
    func dotOfTheRootMakesAnotherOrigin(_ host: String) {
        let dotted = Origin(scheme: "https", host: host, port: 443)
        let plain = Origin(scheme: "https", host: dotted.bareHost, port: 443)
        #expect(dotted != plain && !plain.host.hasSuffix(".") && dotted.isLoopback == plain.isLoopback)
    }
}
