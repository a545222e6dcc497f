import Foundation
import HTTPTypes
import Testing

@testable import Runway

/// Cookies by RFC 6265bis.
struct CookieStoreTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func request(_ url: String) throws -> HTTPRequest {
        let components = try #require(URLComponents(string: url))
        let port = components.port.map { ":\($0)" } ?? ""
        let query = components.percentEncodedQuery.map { "?\($0)" } ?? ""
        return HTTPRequest(
            method: .get, scheme: components.scheme, authority: (components.encodedHost ?? "") + port,
            path: components.percentEncodedPath + query)
    }

    /// What a second request is sent after the response to a first one set cookies.
    private func sent(
        _ fields: String..., from first: String = "https://a.example.com/x/y", to second: String? = nil,
        sharing domains: Set<String> = [], by suffixes: PublicSuffixes = .none, after seconds: TimeInterval = 0
    ) throws -> String? {
        var store = CookieStore()
        for field in fields {
            _ = try store.store(
                Array(field.utf8), from: request(first), sharing: CookieDomains(declared: domains, suffixes: suffixes),
                at: now)
        }
        return try store.field(for: request(second ?? first), at: now.addingTimeInterval(seconds))
            .map { String(decoding: $0.octets, as: UTF8.self) }
    }

    @Test(arguments: [
        ("a=1", "a=1"), ("a=1; b=2", "a=1"), (" a = 1 ", "a=1"), ("a=1=2", "a=1=2"), ("a=", "a="), ("=1", "1"),
        ("a", "a"), ("a=\"q w\"", "a=\"q w\""), ("a=1;;; ;Path", "a=1"), ("a=1; unknown=2", "a=1"), ("a\t=\t1", "a=1"),
        ("名=值", "名=值"), ("a=1,b=2", "a=1,b=2"), ("A=1", "A=1"),
        // With the separator before it a combining character is one character.
        ("a=\u{301}1;\u{301}b", "a=\u{301}1"), ("a= \u{301}", "a=\u{301}"),
    ])
    func nameAndValueAreReadByTheAlgorithm(field: String, text: String) throws {
        #expect(try sent(field) == text)
    }

    @Test func octetsNotInUTF8ReturnUnchanged() throws {
        var store = CookieStore()
        let home = try request("https://a.example.com/")
        var pairs: [[UInt8]] = []
        for octet in UInt8(0x80)...0xFF {
            pairs.append([UInt8(ascii: "n"), octet, UInt8(ascii: "="), octet, octet, 0xC3])
            let isStored = store.store(
                pairs[pairs.count - 1] + Array("; Path=/".utf8), from: home, sharing: .none, at: now)
            #expect(isStored)
            if pairs.count == CookieStore.maximumCountPerDomain { break }
        }
        #expect(store.field(for: home, at: now)?.octets == Array(pairs.joined(separator: "; ".utf8)))
    }

    /// RFC 6265bis §5.1.2 canonicalises a host without removing a dot at its end.
    @Test func dotOfTheRootMakesAnotherHost() throws {
        let (plain, dotted) = ("https://a.example.com/x", "https://a.example.com./x")
        #expect(try sent("a=1", from: dotted, to: plain) == nil)
        #expect(try sent("a=1", from: plain, to: dotted) == nil)
        #expect(try sent("a=1", from: dotted, to: dotted) == "a=1")
        for domain in ["example.com", "example.com."] {
            for (first, second) in [(plain, dotted), (dotted, plain), (dotted, "https://b.example.com/x")] {
                #expect(
                    try sent("a=1; Domain=\(domain)", from: first, to: second, sharing: ["example.com"]) == nil,
                    "\(domain) \(first) \(second)")
            }
        }
    }

    @Test(arguments: ["", "=", ";", " ; a=1", "a=\u{1}", "a\u{7F}=1", "a=1\r\nb=2", " = "])
    func whatIsNoCookieIsIgnored(field: String) throws {
        #expect(try sent(field) == nil)
    }

    @Test func sizesAreBounded() throws {
        #expect(try sent("a=" + String(repeating: "x", count: 4095)) != nil)
        #expect(try sent("a=" + String(repeating: "x", count: 4096)) == nil)
        // An attribute that is too long is passed over.
        #expect(try sent("a=1; Path=/" + String(repeating: "x", count: 1024), to: "https://a.example.com/x/") == "a=1")
    }

    @Test(arguments: [
        ("Wed, 21 Oct 2099 07:28:00 GMT", true), ("Wednesday, 21-Oct-99 07:28:00 GMT", false),
        ("Wed Oct 21 07:28:00 2099", true), ("21 oct 2099 7:8:0", true), ("21 OCTOBER 2099 07:28:00", true),
        ("Wed, 21 Oct 2015 07:28:00 GMT", false),
    ])
    func datesAreReadGenerously(date: String, isStored: Bool) throws {
        #expect(try (sent("a=1; Expires=\(date)") != nil) == isStored)
        #expect(CookieDate.date(date) != nil)
    }

    @Test(arguments: [
        "", "yesterday", "32 Oct 2099 07:28:00", "30 Feb 2099 07:28:00", "21 Oct 1600 07:28:00", "21 Oct 2099 24:00:00",
        "21 Oct 2099 07:60:00", "21 Oct 2099 07:28", "21 Okt 2099 07:28:00", "1 2 3",
    ])
    func whatIsNoDateIsPassedOver(date: String) throws {
        #expect(CookieDate.date(date) == nil)
        #expect(try sent("a=1; Expires=\(date)") == "a=1")
    }

    @Test func datesSetTheExpiry() {
        #expect(CookieDate.date("Thu, 01 Jan 1970 00:00:10 GMT") == Date(timeIntervalSince1970: 10))
        #expect(CookieDate.date("Sun, 06 Nov 1994 08:49:37 GMT") == Date(timeIntervalSince1970: 784_111_777))
        #expect(CookieDate.date("Sunday, 06-Nov-94 08:49:37 GMT") == Date(timeIntervalSince1970: 784_111_777))
        #expect(CookieDate.date("Tue, 29 Feb 2000 00:00:00 GMT") == Date(timeIntervalSince1970: 951_782_400))
        #expect(CookieDate.date("01 Jan 69 00:00:00") == CookieDate.date("01 Jan 2069 00:00:00"))
        #expect(CookieDate.date("01 Jan 70 00:00:00") == Date(timeIntervalSince1970: 0))
    }

    @Test func maxAgePrecedesExpiresUpTo400Days() throws {
        let later = "Expires=Wed, 21 Oct 2099 07:28:00 GMT"
        #expect(try sent("a=1; Max-Age=10; \(later)", after: 9) == "a=1")
        #expect(try sent("a=1; Max-Age=10; \(later)", after: 10) == nil)
        #expect(try sent("a=1; Max-Age=0; \(later)") == nil)
        #expect(try sent("a=1; Max-Age=-5") == nil)
        #expect(try sent("a=1; Max-Age=ten; Max-Age=1x; Max-Age=") == "a=1")
        #expect(try sent("a=1; \(later)", after: 400 * 86_400 - 1) == "a=1")
        #expect(try sent("a=1; \(later)", after: 400 * 86_400) == nil)
        #expect(try sent("a=1; Max-Age=99999999999999999999", after: 400 * 86_400) == nil)
        #expect(try sent("a=1", after: 1e9) == "a=1")
    }

    @Test func cookieIsAlwaysForItsHostAlone() throws {
        for domain in ["", "; Domain=example.com", "; Domain=.EXAMPLE.com", "; Domain=a.example.com", "; Domain="] {
            #expect(try sent("a=1\(domain)") == "a=1")
            #expect(try sent("a=1\(domain)", to: "https://example.com/x/y") == nil)
            #expect(try sent("a=1\(domain)", to: "https://b.a.example.com/x/y") == nil)
        }
    }

    @Test func aDomainThatTheAppNamedIsShared() throws {
        func shared(_ domain: String, to host: String) throws -> String? {
            try sent("a=1; Domain=\(domain)", to: "https://\(host)/x/y", sharing: ["Example.com"])
        }
        #expect(try shared("example.com", to: "example.com") == "a=1")
        #expect(try shared(".example.com", to: "b.example.com") == "a=1")
        #expect(try shared("a.example.com", to: "c.a.example.com") == "a=1")
        #expect(try shared("a.example.com", to: "b.example.com") == nil)
        #expect(try shared("example.com", to: "badexample.com") == nil)
        // Above what was named it stays with its host.
        #expect(try shared("com", to: "b.example.com") == nil)
    }

    @Test(arguments: ["other.example", "b.example.com", "x.a.example.com", "ample.com", "例.example.com"])
    func aHostSetsNoCookiesForOthers(domain: String) throws {
        #expect(try sent("a=1; Domain=\(domain)", sharing: [domain, "example.com"]) == nil)
    }

    @Test func anAddressIsOnlyItself() throws {
        let at = "https://127.0.0.1/x"
        #expect(try sent("a=1; Domain=127.0.0.1", from: at) == "a=1")
        #expect(try sent("a=1; Domain=0.0.1", from: at, sharing: ["0.0.1"]) == nil)
    }

    @Test(arguments: [
        ("", "/x", "a=1"), ("", "/x/", "a=1"), ("", "/x/z", "a=1"), ("", "/", nil), ("", "/xy", nil),
        ("; Path=/", "/", "a=1"), ("; Path=/x/y", "/x/y", "a=1"), ("; Path=/x/y", "/x/y/z", "a=1"),
        ("; Path=/x/y", "/x/yz", nil), ("; Path=/x/y/", "/x/y", nil), ("; Path=relative", "/x", "a=1"),
        ("; Path=/x; Path=/other", "/x", nil), ("; Path=/other", "/other?q", "a=1"),
    ])
    func aCookieIsForItsPathAndBelow(attribute: String, path: String, expected: String?) throws {
        #expect(try sent("a=1\(attribute)", to: "https://a.example.com\(path)") == expected)
    }

    @Test func secureCookiesNeedTLSBothWays() throws {
        let (tls, plain) = ("https://a.example.com/x", "http://a.example.com/x")
        #expect(try sent("a=1; Secure", from: tls, to: tls) == "a=1")
        #expect(try sent("a=1; Secure", from: tls, to: plain) == nil)
        #expect(try sent("a=1; Secure", from: plain, to: tls) == nil)
        #expect(try sent("a=1", from: plain, to: tls) == "a=1")
    }

    @Test(arguments: [
        "localhost", "localhost:8080", "a.localhost", "LOCALHOST.", "127.0.0.1", "127.1.2.3", "127.1", "[::1]:80",
    ])
    func secureCookiesNeedNoTLSOnThisMachine(host: String) throws {
        let home = "http://\(host)/x"
        for field in ["a=1; Secure", "__Host-a=1; Secure; Path=/", "__Secure-a=1; Secure"] {
            #expect(try sent(field, from: home) == String(field.prefix { $0 != ";" }))
        }
        #expect(try sent("__Host-a=1; Path=/", from: home) == nil)
    }

    @Test(arguments: ["localhost.example", "mylocalhost", "128.0.0.1", "0.0.0.0", "[::2]", "10.0.0.1"])
    func secureCookiesNeedTLSElsewhere(host: String) throws {
        #expect(try sent("a=1; Secure", from: "http://\(host)/x") == nil)
        #expect(try sent("a=1; Secure", from: "https://\(host)/x", to: "http://\(host)/x") == nil)
    }

    @Test func insecureCookieDoesNotHideASecureOne() throws {
        var store = CookieStore()
        let (tls, plain) = (try request("https://a.example.com/x/y"), try request("http://a.example.com/x/y"))
        let other = try request("http://a.example.com/")
        let storedSecure = store.store(Array("a=1; Secure; Path=/x".utf8), from: tls, sharing: .none, at: now)
        let storedOver = store.store(Array("a=2; Path=/x".utf8), from: plain, sharing: .none, at: now)
        let storedBelow = store.store(Array("a=2; Path=/x/y".utf8), from: plain, sharing: .none, at: now)
        let storedAbove = store.store(Array("a=2; Path=/".utf8), from: other, sharing: .none, at: now)
        #expect(storedSecure && !storedOver && !storedBelow && storedAbove)
        #expect(store.field(for: tls, at: now)?.octets == Array("a=1; a=2".utf8))
    }

    @Test(arguments: [
        ("__Secure-a=1; Secure", true), ("__Secure-a=1", false), ("__secure-a=1", false),
        ("__Host-a=1; Secure; Path=/", true), ("__Host-a=1; Secure", false), ("__Host-a=1; Path=/", false),
        ("__Host-a=1; Secure; Path=/x", false), ("__Host-a=1; Secure; Path=/; Domain=a.example.com", false),
        ("__HOST-a=1; Path=/", false), ("=__Host-a=1; Secure; Path=/", false), ("__Secure-a; Secure", false),
    ])
    func prefixesHoldWhatTheyPromise(field: String, isStored: Bool) throws {
        #expect(try (sent(field) != nil) == isStored)
    }

    @Test func attributesAreStored() throws {
        var store = CookieStore()
        for field in [
            "a=1; HttpOnly; SameSite=Strict", "b=2; samesite=lax", "c=3; SameSite=None; Secure", "d=4; SameSite=x",
        ] {
            _ = try store.store(Array(field.utf8), from: request("https://a.example.com/"), sharing: .none, at: now)
        }
        let cookies = store.cookies(at: now)
        #expect(cookies.map(\.sameSite) == [.strict, .lax, .none, .default])
        #expect(cookies.map(\.isHTTPOnly) == [true, false, false, false])
        #expect(!"\(cookies[0])".contains("1;") && "\(cookies[0])".contains("a of a.example.com/"))
    }

    @Test func longerPathsComeFirstAndThenTheOlder() throws {
        #expect(
            try sent("a=1; Path=/", "b=2; Path=/x", "c=3; Path=/x/y", "d=4; Path=/x")
                == "c=3; b=2; d=4; a=1")
    }

    @Test func laterCookieReplacesTheEarlierInItsPlace() throws {
        #expect(try sent("a=1", "b=2", "a=3") == "a=3; b=2")
        #expect(try sent("a=1", "a=; Max-Age=0") == nil)
        #expect(try sent("a=1; Path=/", "a=2") == "a=2; a=1")
    }

    @Test func secureCookiesAreEvictedLast() throws {
        var store = CookieStore()
        let request = try request("https://a.example.com/")
        _ = store.store(Array("safe=1; Secure".utf8), from: request, sharing: .none, at: now)
        for number in 0..<60 { _ = store.store(Array("c\(number)=1".utf8), from: request, sharing: .none, at: now) }
        let names = store.cookies(at: now).map(\.name)
        #expect(names.count == CookieStore.maximumCountPerDomain)
        #expect(names.contains("safe") && names.contains("c59") && !names.contains("c0"))
    }

    @Test func aJarHasABound() throws {
        var store = CookieStore()
        for number in 0..<(CookieStore.maximumCount + 5) {
            _ = try store.store(
                Array("a=1".utf8), from: request("https://h\(number).example/"), sharing: .none, at: now)
        }
        #expect(store.cookies(at: now).count == CookieStore.maximumCount)
        let oldest = try request("https://h0.example/")
        #expect(store.field(for: oldest, at: now) == nil)
    }

    @Test func everyChangeOfCookiesChangesTheVersion() throws {
        var store = CookieStore()
        let request = try request("https://a.example.com/")
        var versions = [store.version]
        func note() { versions.append(store.version) }
        for octets: [UInt8] in [[0xFF], [0xFE], [0xFE, 0xFF]] {
            _ = store.store(Array("a=".utf8) + octets, from: request, sharing: .none, at: now)
            note()
        }
        _ = store.store(Array("b=1; Max-Age=5".utf8), from: request, sharing: .none, at: now)
        note()
        store.removeEnded(at: now.addingTimeInterval(6))
        note()
        for number in 0...CookieStore.maximumCountPerDomain {
            _ = store.store(Array("c\(number)=1".utf8), from: request, sharing: .none, at: now)
            note()
        }
        let beforeEviction = store.version
        _ = store.store(Array("d=1".utf8), from: request, sharing: .none, at: now)
        #expect(store.version == beforeEviction + 2, "one came, another had to make room")
        store.removeAll()
        note()
        #expect(Set(versions.dropLast()).count == versions.count - 1)
        #expect(versions.last == versions.first, "empty stores are the same")
        _ = store.store(Array("a=1".utf8), from: request, sharing: .none, at: now)
        let version = store.version
        _ = store.store(Array("a=1; Path=/".utf8), from: request, sharing: .none, at: now)
        store.removeEnded(at: now)
        #expect(store.version == version, "nothing changed")
    }
}
