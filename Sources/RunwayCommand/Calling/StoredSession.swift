import Foundation
import HTTPTypes
import Runway

/// The data that a named session stores between calls: cookies, and the `Authorization` value of each origin.
struct StoredSession: Codable, Equatable, Sendable {
    /// The maximum number of cookies; only the newest are stored.
    static let maximumCookieCount = 200
    /// The maximum number of origins with an `Authorization` value; only the newest are stored.
    static let maximumTokenCount = 64

    /// A cookie in the format of the session file.
    struct StoredCookie: Codable, Equatable, Sendable {
        var name: Octets
        var value: Octets
        var domain: String
        var isHostOnly: Bool
        var path: String
        /// The expiry date; `nil` if the cookie ends with the session.
        var expires: Date?
        var isSecure: Bool
        var isHTTPOnly: Bool
        var sameSite: String

        init(_ cookie: Cookie) {
            (name, value) = (Octets(cookie.nameOctets), Octets(cookie.valueOctets))
            (domain, path) = (cookie.domain, cookie.path)
            (isHostOnly, isSecure, isHTTPOnly) = (cookie.isHostOnly, cookie.isSecure, cookie.isHTTPOnly)
            expires = cookie.expiry
            sameSite = cookie.sameSite.rawValue
        }

        var cookie: Cookie {
            Cookie(
                nameOctets: name.octets, valueOctets: value.octets, domain: domain, isHostOnly: isHostOnly, path: path,
                expiry: expires, isSecure: isSecure, isHTTPOnly: isHTTPOnly,
                sameSite: Cookie.SameSite(rawValue: sameSite) ?? .default)
        }
    }

    /// Bytes in the session file: as a string if they are UTF-8, and otherwise as an object with the member `base64`.
    struct Octets: Codable, Equatable, Sendable {
        let octets: [UInt8]

        private enum CodingKeys: String, CodingKey { case base64 }

        init(_ octets: [UInt8]) { self.octets = octets }

        init(from decoder: any Decoder) throws {
            if let text = try? decoder.singleValueContainer().decode(String.self) {
                octets = Array(text.utf8)
            } else {
                octets = Array(try decoder.container(keyedBy: CodingKeys.self).decode(Data.self, forKey: .base64))
            }
        }

        func encode(to encoder: any Encoder) throws {
            if let text = String(validating: octets, as: UTF8.self) {
                var container = encoder.singleValueContainer()
                try container.encode(text)
            } else {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(Data(octets), forKey: .base64)
            }
        }
    }

    /// The `Authorization` value for calls to an origin.
    struct Token: Codable, Equatable, Sendable {
        var origin: String
        var authorization: String
    }

    var version = 1
    /// The cookies, oldest first.
    var cookies: [StoredCookie] = []
    /// The `Authorization` values, oldest first.
    var tokens: [Token] = []

    /// Returns the `Authorization` value for an origin; `nil` if none is stored.
    func authorization(for origin: String) -> String? { tokens.last { $0.origin == origin }?.authorization }

    mutating func setCookies(_ cookies: [Cookie]) {
        self.cookies = cookies.suffix(Self.maximumCookieCount).map { StoredCookie($0) }
    }

    mutating func setAuthorization(_ value: String, for origin: String) {
        tokens.removeAll { $0.origin == origin }
        tokens = (tokens + [Token(origin: origin, authorization: value)]).suffix(Self.maximumTokenCount)
    }
}
