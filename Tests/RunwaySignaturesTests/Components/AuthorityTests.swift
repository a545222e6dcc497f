import Testing

@testable import RunwaySignatures

/// The authority as it is signed and compared.
struct AuthorityTests {
    @Test(arguments: [
        ("api.example.com", "https", "api.example.com"), ("API.Example.com", "https", "api.example.com"),
        ("a.test:443", "https", "a.test"), ("a.test:443", "http", "a.test:443"), ("A.test:80", "http", "a.test"),
        ("a.test:", "https", "a.test"), ("a.test:8080", "https", "a.test:8080"), ("[::1]", "https", "[::1]"),
        ("[::1]:443", "https", "[::1]"), ("[FE80::A]:8443", "https", "[fe80::a]:8443"),
        // The Kelvin sign is a k in lower case, by Unicode alone.
        ("\u{212A}.test", "https", "\u{212A}.test"), ("\u{130}.TEST", "https", "\u{130}.test"),
    ])
    func caseAndDefaultPortMakeNoDifference(_ authority: String, _ scheme: String, _ expected: String) {
        let normalized = Authority.normalized(authority, scheme: scheme)
        #expect(normalized.map { Array($0.utf8) } == Array(expected.utf8))
    }

    @Test(arguments: ["", ":443", ":", "anna@a.test", "anna@A.test:443"])
    func authorityWithoutHostOrWithUserIsRefused(_ authority: String) {
        #expect(Authority.normalized(authority, scheme: "https") == nil)
    }
}
