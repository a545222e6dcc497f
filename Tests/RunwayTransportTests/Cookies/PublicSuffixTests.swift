import Foundation
import HTTPTypes
import Testing

@testable import Runway

extension PublicSuffixes {
    /// A system without a list.
    static var none: PublicSuffixes { PublicSuffixes(path: "/nonexistent") }
}

extension CookieDomains {
    /// Nothing is declared, and there is no list.
    static var none: CookieDomains { CookieDomains(declared: [], suffixes: .none) }
}

/// Which hosts share cookies by the Public Suffix List.
struct PublicSuffixTests {
    private static let list = """
        // A comment, which names rules: uk
        com
        uk
        co.uk   and what follows a blank
        *.ck
        !www.ck
        *.kawasaki.jp\r
        github.io
        公司.cn
        \(end)
        """
    private static let end = "// ===END PRIVATE DOMAINS==="

    private func withList<Value>(_ text: String = list, _ body: (PublicSuffixes) throws -> Value) throws -> Value {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("suffixes-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(text.utf8).write(to: file)
        return try body(PublicSuffixes(path: file.path))
    }

    @Test func rulesWildcardsAndExceptionsApply() throws {
        try withList { suffixes in
            for domain in [
                "com", "uk", "co.uk", "co.uk.", "a.ck", "ck", "b.kawasaki.jp", "kawasaki.jp", "github.io", "unknown",
                "xn--55qx5d.cn", "", ".",
            ] {
                #expect(suffixes.contains(domain) == true, "\(domain)")
            }
            for domain in [
                "example.com", "a.example.com", "bbc.co.uk", "www.ck", "b.a.ck", "c.b.kawasaki.jp", "ada.github.io",
                "example.unknown", "a.xn--55qx5d.cn",
            ] {
                #expect(suffixes.contains(domain) == false, "\(domain)")
            }
        }
    }

    @Test func withoutAListNothingIsKnown() throws {
        #expect(PublicSuffixes.none.contains("com") == nil)
        #expect(try withList("// nothing\n\(Self.end)") { $0.contains("com") } == nil)
        #expect(try withList(String(repeating: "com\n", count: 1_100_000) + Self.end) { $0.contains("com") } == nil)
        #expect(try withList("com\nuk\n") { $0.contains("com") } == nil, "The list is cut off")
    }

    @Test func domainIsSharedBelowAPublicSuffix() throws {
        try withList { suffixes in
            func sent(_ domain: String, _ first: String, _ second: String, declared: Set<String> = []) -> Bool {
                var store = CookieStore()
                let domains = CookieDomains(declared: declared, suffixes: suffixes)
                let now = Date(timeIntervalSince1970: 1_800_000_000)
                let request = { HTTPRequest(method: .get, scheme: "https", authority: $0, path: "/") }
                _ = store.store(Array("a=1; Domain=\(domain)".utf8), from: request(first), sharing: domains, at: now)
                return store.field(for: request(second), at: now) != nil
            }
            #expect(sent("example.com", "a.example.com", "b.example.com"))
            #expect(sent(".Example.com", "example.com", "b.a.example.com"))
            #expect(!sent("a.example.com", "a.example.com", "b.example.com"))
            // A cookie for a public suffix is ignored (RFC 6265bis §5.7), or its host's alone.
            for domain in ["com", "co.uk", "github.io"] {
                #expect(!sent(domain, "a.\(domain)", "b.\(domain)"), "\(domain)")
                #expect(!sent(domain, "a.\(domain)", "a.\(domain)"), "\(domain)")
                #expect(sent(domain, domain, domain), "\(domain)")
                #expect(!sent(domain, domain, "a.\(domain)"), "\(domain)")
            }
            #expect(sent("localhost", "localhost", "localhost"))
            #expect(!sent("localhost", "a.localhost", "b.localhost"))
            #expect(sent("127.0.0.1", "127.0.0.1", "127.0.0.1"))
            #expect(!sent("0.0.1", "127.0.0.1", "127.0.0.1"))
            // A service that declares its domains has no others.
            #expect(!sent("example.com", "a.example.com", "b.example.com", declared: ["other.com"]))
        }
    }
}
