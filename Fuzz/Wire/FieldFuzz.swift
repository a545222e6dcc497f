import Foundation
import HTTPTypes

@testable import Runway

/// The values of header fields that decide something: cookies, freshness, ranges, tags, dates, digests, places to go to.
enum FieldFuzz {
    private static let date = Date(timeIntervalSince1970: 1_700_000_000)
    private static let home = HTTPRequest(method: .get, scheme: "https", authority: "www.example.com", path: "/a/b")

    static func run(_ input: FuzzInput) {
        let text = String(decoding: input.bytes, as: UTF8.self)
        checkCookie(input.bytes)
        checkStrictTransport(text)
        checkCaching(text)
        checkRanges(text)
        checkDates(text)
        checkRedirect(input.bytes)
        _ = ContentDigests(text)?.areMet
    }

    private static let domains = CookieDomains(declared: ["example.com"], suffixes: PublicSuffixes())

    private static func checkCookie(_ field: [UInt8]) {
        guard let cookie = SetCookie(field) else { return }
        check(cookie.name.count + cookie.value.count <= SetCookie.maximumByteCount, "a long cookie")
        let again = SetCookie(cookie.name + [UInt8(ascii: "=")] + cookie.value)
        check(again?.name == cookie.name && again?.value == cookie.value, "another cookie when it is sent")
        check(cookie.path?.hasPrefix("/") ?? true, "a path that is none")
        check(cookie.domain.map { $0 == $0.lowercased() && !$0.isEmpty } ?? true, "a domain that is none")
        let latest = date.addingTimeInterval(SetCookie.maximumLifetime)
        check(cookie.expiry(at: date).map { $0 <= latest } ?? true, "a cookie that lives too long")
        var store = CookieStore()
        _ = store.store(field, from: home, sharing: domains, at: date)
        for host in ["example.com", "other.example", "badexample.com", "www.example.com.other.example"] {
            var request = home
            request.authority = host
            let isOwn = host == "example.com" && store.cookies(at: date).contains { !$0.isHostOnly }
            check(isOwn || store.field(for: request, at: date) == nil, "a cookie goes to \(host)")
        }
        var plain = home
        plain.scheme = "http"
        if let sent = store.field(for: plain, at: date) {
            check(!store.cookies(at: date).allSatisfy(\.isSecure), "a secure cookie goes without TLS")
            check(!sent.octets.contains { $0 == 10 || $0 == 13 || $0 == 0 }, "a cookie that ends a line")
        }
    }

    private static func checkStrictTransport(_ text: String) {
        if let policy = StrictTransport.policy(text) {
            check((0...3.2e9).contains(policy.maximumAge), "an age out of bounds")
        }
        let hosts = StrictTransport()
        hosts.store(text, of: "www.example.com", at: date)
        check(!hosts.requiresTLS("example.com", at: date), "it speaks for the host above it")
    }

    private static func checkCaching(_ text: String) {
        let directives = CacheDirectives([text])
        for name in ["max-age", "s-maxage", "stale-while-revalidate", "stale-if-error"] {
            let bounds = Duration.zero ... .seconds(FieldList.maximumSeconds)
            check(directives.duration(name).map(bounds.contains) ?? true, "a lifetime out of bounds")
        }
        let names = directives.fieldNames("no-cache") ?? []
        check(names.allSatisfy { HTTPField.Name($0) != nil }, "a name that is none")
        let tag = EntityTag(text)
        check(tag.map { EntityTag($0.text) == $0 } ?? true, "another tag when it is sent")
        // A tag without marks of quotation, which no tag should be without, may fall apart in a list.
        if let tag, !tag.opaque.utf8.contains(UInt8(ascii: ",")), let list = EntityTagList([tag.text]),
            case .tags(let tags) = list,
            tags.count == 1
        {
            check(tags[0].matchesWeakly(tag), "a tag that does not match itself")
        }
        _ = VarySelection([.vary: text], request: home.headerFields).matches(home.headerFields)
    }

    private static func checkRanges(_ text: String) {
        if let range = ContentRange(text) {
            check(!range.bytes.isEmpty && range.bytes.lowerBound >= 0, "a range without bytes")
            check(range.completeLength.map { range.bytes.upperBound <= $0 } ?? true, "a range beyond the end")
            check(ContentRange(range.text) == range, "another range when it is read again")
        }
        for length in [0, 1, 1000] {
            guard let bytes = ByteRange(text)?.bytes(of: length) else { continue }
            check(!bytes.isEmpty && bytes.lowerBound >= 0 && bytes.upperBound <= length, "a range beyond the end")
        }
    }

    private static func checkDates(_ text: String) {
        let now = HTTPDate(date)
        if let read = HTTPDate(text, now: now) { check(HTTPDate(read.text, now: now) == read, "another date") }
        _ = CookieDate.date(text)
        if let wait = RetryAfter(text, now: now)?.wait(from: now) {
            check((.zero ... .seconds(Int64(Int32.max))).contains(wait), "a wait out of bounds")
        }
    }

    private static func checkRedirect(_ location: [UInt8]) {
        var request = Request(head: home)
        request.head.headerFields[.authorization] = "secret"
        guard let next = request.redirected(by: .found, to: URIReference(location)) else { return }
        check(next.head.scheme == "https", "from TLS to none")
        check(next.head.authority?.contains("@") == false, "credentials in a URL")
        check(next.head.path?.hasPrefix("/") == true, "a path that is none")
        let isSame = Origin(next.head) == Origin(home)
        check(isSame || next.head.headerFields[.authorization] == nil, "a secret goes to another origin")
        let target = (next.head.authority ?? "") + (next.head.path ?? "")
        check(!target.utf8.contains { $0 <= 0x20 || $0 == 0x7F }, "a target that ends a line")
    }
}
