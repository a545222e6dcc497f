import Foundation
import HTTPTypes

/// The cookies of one service and account. Decides which cookies of a response are stored, and which stored cookies are
/// sent with a request (RFC 6265bis §5.7, §5.8). It performs no I/O and has no clock.
struct CookieStore {
    /// The maximum number of cookies of one domain. Cookies without `Secure` are evicted before all others, and the
    /// least recently used are evicted first.
    static let maximumCountPerDomain = 50
    /// The maximum number of cookies in total. The least recently used are evicted first.
    static let maximumCount = 3000

    private struct Stored {
        var cookie: Cookie
        /// Orders the cookies by when they were set. `lastUse` orders them by when they were last sent.
        var creation: UInt64
        var lastUse: UInt64
    }

    private var stored: [Cookie.Identity: Stored] = [:]
    private var counter: UInt64 = 0
    private var changeCount: UInt64
    /// A number that changes when a cookie is added, removed or gets another value; 0 while the store is empty.
    var version: UInt64 { stored.isEmpty ? 0 : changeCount }

    /// Creates an empty store.
    ///
    /// - Parameter changeCount: The number from which versions continue.
    init(changeCount: UInt64 = 1) { self.changeCount = changeCount }

    /// Returns all cookies that have not expired.
    func cookies(at date: Date) -> [Cookie] {
        stored.values.filter { !$0.cookie.hasEnded(at: date) }.sorted { $0.creation < $1.creation }.map(\.cookie)
    }

    mutating func removeAll() {
        if !stored.isEmpty { changeCount += 1 }
        stored = [:]
    }

    // MARK: Storing

    /// Processes a cookie in a response. Returns whether it was stored or removed a stored cookie; `false` if it was
    /// ignored.
    mutating func store(
        _ field: [UInt8], from request: HTTPRequest, sharing domains: CookieDomains, at date: Date
    ) -> Bool {
        guard let set = SetCookie(field), let cookie = Self.cookie(set, request, domains, date) else { return false }
        let isSecureOrigin = request.keepsCookiesSecure
        guard isSecureOrigin || !cookie.isSecure, isSecureOrigin || !shadowsSecure(cookie) else { return false }
        insert(cookie, at: date)
        return true
    }

    /// Restores a cookie that was saved before, for example by another process.
    mutating func restore(_ cookie: Cookie, at date: Date) { insert(cookie, at: date) }

    private mutating func insert(_ cookie: Cookie, at date: Date) {
        counter += 1
        let old = stored[cookie.identity]
        stored[cookie.identity] =
            cookie.hasEnded(at: date)
            ? nil : Stored(cookie: cookie, creation: old?.creation ?? counter, lastUse: counter)
        if stored[cookie.identity]?.cookie.valueOctets != old?.cookie.valueOctets { changeCount += 1 }
        evict(at: date, domain: cookie.domain)
    }

    private static func cookie(
        _ set: SetCookie, _ request: HTTPRequest, _ domains: CookieDomains, _ date: Date
    ) -> Cookie? {
        let host = Origin(request).host
        var (domain, isHostOnly) = (host, true)
        if let named = set.domain {
            guard named.utf8.allSatisfy({ $0 < 0x80 }), host.isWithin(named) else { return nil }
            switch domains.scope(of: named, from: host) {
            case .domain: (domain, isHostOnly) = (named, false)
            case .host: break
            case .none: return nil
            }
        }
        let cookie = Cookie(
            nameOctets: set.name, valueOctets: set.value, domain: domain, isHostOnly: isHostOnly,
            path: set.path ?? request.defaultCookiePath, expiry: set.expiry(at: date), isSecure: set.isSecure,
            isHTTPOnly: set.isHTTPOnly, sameSite: set.sameSite)
        return satisfiesPrefix(cookie, set) ? cookie : nil
    }

    /// Returns whether a cookie satisfies the rules for its name prefix (RFC 6265bis §4.1.3). Even the value of a
    /// nameless cookie must not begin with such a prefix.
    private static func satisfiesPrefix(_ cookie: Cookie, _ set: SetCookie) -> Bool {
        let name = (cookie.nameOctets.isEmpty ? cookie.value : cookie.name).lowercased()
        let isPrefixed = name.hasPrefix("__secure-") || name.hasPrefix("__host-")
        if !isPrefixed { return true }
        if cookie.nameOctets.isEmpty || !cookie.isSecure { return false }
        return name.hasPrefix("__secure-") || (set.domain == nil && set.path == "/")
    }

    /// Returns whether a cookie that was received without TLS would hide a cookie that is sent only over TLS.
    private func shadowsSecure(_ cookie: Cookie) -> Bool {
        stored.values.contains { other in
            let other = other.cookie
            return other.isSecure && other.nameOctets == cookie.nameOctets
                && (other.domain.isWithin(cookie.domain) || cookie.domain.isWithin(other.domain))
                && cookie.path.isBelow(other.path)
        }
    }

    mutating func removeEnded(at date: Date) {
        let count = stored.count
        stored = stored.filter { !$0.value.cookie.hasEnded(at: date) }
        if stored.count < count { changeCount += 1 }
    }

    private mutating func evict(at date: Date, domain: String) {
        let count = stored.count
        defer { if stored.count < count { changeCount += 1 } }
        let own = stored.filter { $0.key.domain == domain }
        if own.count > Self.maximumCountPerDomain {
            for (id, entry) in own where entry.cookie.hasEnded(at: date) { stored[id] = nil }
            let rest = own.filter { stored[$0.key] != nil }.sorted {
                ($0.value.cookie.isSecure ? 1 : 0, $0.value.lastUse) < (
                    $1.value.cookie.isSecure ? 1 : 0, $1.value.lastUse
                )
            }
            for (id, _) in rest.prefix(max(0, rest.count - Self.maximumCountPerDomain)) { stored[id] = nil }
        }
        if stored.count > Self.maximumCount, let oldest = stored.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            stored[oldest.key] = nil
        }
    }

    // MARK: Sending

    /// Returns the value of the `Cookie` field for a request, and the number of cookies in it. Returns `nil` if no
    /// cookie matches.
    mutating func field(for request: HTTPRequest, at date: Date) -> (octets: [UInt8], count: Int)? {
        let (host, path) = (Origin(request).host, request.cookiePath)
        let isSecure = request.keepsCookiesSecure
        var sent = stored.values.filter { entry in
            let cookie = entry.cookie
            return !cookie.hasEnded(at: date) && (isSecure || !cookie.isSecure) && path.isBelow(cookie.path)
                && (cookie.isHostOnly ? host == cookie.domain : host.isWithin(cookie.domain))
        }
        guard !sent.isEmpty else { return nil }
        sent.sort {
            let (left, right) = ($0.cookie.path.utf8.count, $1.cookie.path.utf8.count)
            return left == right ? $0.creation < $1.creation : left > right
        }
        counter += 1
        for entry in sent { stored[entry.cookie.identity]?.lastUse = counter }
        return (Array(sent.map(\.cookie.octets).joined(separator: "; ".utf8)), sent.count)
    }
}

extension Cookie {
    fileprivate func hasEnded(at date: Date) -> Bool { expiry.map { $0 <= date } ?? false }
}

extension String {
    /// Returns whether a host equals a domain or is below it (RFC 6265bis §5.1.3). An IP address must be equal.
    func isWithin(_ domain: String) -> Bool {
        self == domain || (hasSuffix(".\(domain)") && !isAddress)
    }

    private var isAddress: Bool {
        hasPrefix("[") || utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
    }

    /// Returns whether a request's path equals a cookie's path or is below it (RFC 6265bis §5.1.4).
    fileprivate func isBelow(_ path: String) -> Bool {
        self == path || (hasPrefix(path) && (path.hasSuffix("/") || self[path.endIndex...].hasPrefix("/")))
    }
}

extension HTTPRequest {
    /// Whether cookies with `Secure` may be stored and sent. This is the case over TLS, and for requests to this
    /// machine, because their bytes never leave it. RFC 6265bis §5.7 leaves this to the client; browsers and curl do
    /// the same.
    fileprivate var keepsCookiesSecure: Bool { scheme?.lowercased() == "https" || Origin(self).isLoopback }

    /// The path without its query, beginning with a slash.
    fileprivate var cookiePath: String {
        let path = String(escapedTarget.prefix { $0 != "?" })
        return path.hasPrefix("/") ? path : "/"
    }

    /// The path of a cookie without a `Path` attribute (RFC 6265bis §5.1.4).
    fileprivate var defaultCookiePath: String {
        let path = cookiePath
        guard let last = path.lastIndex(of: "/"), last > path.startIndex else { return "/" }
        return String(path[..<last])
    }
}
