public import struct Foundation.Date

/// A stored cookie.
///
/// Name and value may contain any octets (RFC 6265bis §5.6). They are sent back unchanged.
///
/// Neither the description nor the mirror of a cookie contains its value, which may be secret.
public struct Cookie: Sendable, Equatable {
    /// The value of the cookie's `SameSite` attribute.
    ///
    /// The attribute is stored, but does not restrict where the cookie is sent, because an app's calls do not come from
    /// a web site.
    package enum SameSite: String, Sendable {
        /// The attribute is missing or has an unknown value (RFC 6265bis §5.6.7).
        case `default`
        /// Browsers send the cookie with all requests.
        case none
        /// Browsers send the cookie with requests of the same site and when they navigate to it.
        case lax
        /// Browsers send the cookie only with requests of the same site.
        case strict
    }

    /// The octets of the name; may be empty.
    public let nameOctets: [UInt8]
    /// The octets of the value; may be empty.
    public let valueOctets: [UInt8]
    /// The name as text. Octets that are not UTF-8 become U+FFFD.
    public var name: String { String(decoding: nameOctets, as: UTF8.self) }
    /// The value as text. Octets that are not UTF-8 become U+FFFD.
    public var value: String { String(decoding: valueOctets, as: UTF8.self) }
    /// The host that receives the cookie, or the domain whose hosts receive it.
    public var domain: String
    /// Whether only the exact host receives the cookie, not its subdomains.
    public var isHostOnly: Bool
    /// The path prefix of requests that carry the cookie.
    public var path: String
    /// The date at which the cookie expires; `nil` if it expires when the process ends.
    public var expiry: Date?
    /// Whether the cookie is sent only over TLS or to this machine.
    public var isSecure: Bool
    /// Whether the cookie is hidden from scripts in web pages.
    public var isHTTPOnly: Bool
    package var sameSite: SameSite

    package init(
        nameOctets: [UInt8], valueOctets: [UInt8], domain: String, isHostOnly: Bool, path: String, expiry: Date?,
        isSecure: Bool,
        isHTTPOnly: Bool, sameSite: SameSite
    ) {
        self.nameOctets = nameOctets
        self.valueOctets = valueOctets
        self.domain = domain
        self.isHostOnly = isHostOnly
        self.path = path
        self.expiry = expiry
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.sameSite = sameSite
    }

    /// The identity of the cookie. A new cookie with the same identity replaces this one.
    var identity: Identity { Identity(name: nameOctets, domain: domain, isHostOnly: isHostOnly, path: path) }

    struct Identity: Hashable {
        let name: [UInt8]
        let domain: String
        let isHostOnly: Bool
        let path: String
    }

    /// The cookie as it is sent in a `Cookie` field (RFC 6265bis §5.8.3).
    var octets: [UInt8] { nameOctets.isEmpty ? valueOctets : nameOctets + [UInt8(ascii: "=")] + valueOctets }
}

extension Cookie: CustomStringConvertible, CustomReflectable {
    /// The name, domain and path of the cookie, without its value.
    public var description: String { "Cookie \(name) of \(domain)\(path), \(Redaction.placeholder)" }

    /// A mirror with all properties except the value.
    public var customMirror: Mirror { Mirror(self, children: ["name": name, "domain": domain, "path": path]) }
}
