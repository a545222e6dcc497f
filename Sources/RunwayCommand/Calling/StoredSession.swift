import Foundation
import HTTPTypes
import Runway

/// What a named session stores from one call to the next: cookies, and for each origin the `Authorization` field.
struct StoredSession: Codable, Equatable, Sendable {
    /// The most cookies; the newest remain.
    static let maximumCookieCount = 200
    /// The most origins with an `Authorization` field; the newest remain.
    static let maximumTokenCount = 64

    /// A cookie whose name and value are text.
    struct StoredCookie: Codable, Equatable, Sendable {
        var name: String
        var value: String
        var domain: String
        var isHostOnly: Bool
        var path: String
        /// Absent if the cookie ends with the session.
        var expires: Date?
        var isSecure: Bool
        var isHTTPOnly: Bool
        var sameSite: String

        init?(_ cookie: Cookie) {
            guard let name = String(validating: cookie.nameOctets, as: UTF8.self),
                let value = String(validating: cookie.valueOctets, as: UTF8.self)
            else { return nil }
            (self.name, self.value, domain, path) = (name, value, cookie.domain, cookie.path)
            (isHostOnly, isSecure, isHTTPOnly) = (cookie.isHostOnly, cookie.isSecure, cookie.isHTTPOnly)
            expires = cookie.expiry
            sameSite = cookie.sameSite.rawValue
        }

        var cookie: Cookie {
            Cookie(
                nameOctets: Array(name.utf8), valueOctets: Array(value.utf8), domain: domain, isHostOnly: isHostOnly,
                path: path, expiry: expires, isSecure: isSecure, isHTTPOnly: isHTTPOnly,
                sameSite: Cookie.SameSite(rawValue: sameSite) ?? .default)
        }
    }

    /// The value of `Authorization` for calls to an origin.
    struct Token: Codable, Equatable, Sendable {
        var origin: String
        var authorization: String
    }

    /// The version of the format.
    var version = 1
    /// The oldest first.
    var cookies: [StoredCookie] = []
    /// The oldest first.
    var tokens: [Token] = []

    /// The value of `Authorization` for an origin; `nil` if none is stored.
    func authorization(for origin: String) -> String? { tokens.last { $0.origin == origin }?.authorization }

    /// Replaces the cookies.
    mutating func setCookies(_ cookies: [Cookie]) {
        self.cookies = cookies.suffix(Self.maximumCookieCount).compactMap { StoredCookie($0) }
    }

    /// Stores the value of `Authorization` for an origin.
    mutating func setAuthorization(_ value: String, for origin: String) {
        tokens.removeAll { $0.origin == origin }
        tokens = (tokens + [Token(origin: origin, authorization: value)]).suffix(Self.maximumTokenCount)
    }
}

extension CallTarget {
    /// Scheme, host and port, as a session names an origin.
    var originName: String { "\(scheme)://\(host):\(port)" }
}
