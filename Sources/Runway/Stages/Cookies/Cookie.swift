public import struct Foundation.Date

/// One stored cookie.
///
/// Name and value may contain any octets (RFC 6265bis §5.6). They are sent back unchanged.
///
/// Neither its description nor its reflection shows its value, which may be a secret.
public struct Cookie: Sendable, Equatable {
    /// The value of its `SameSite` attribute.
    ///
    /// The attribute is stored, but does not restrict where the cookie is sent: the calls of an app do not come from a
    /// site.
    package enum SameSite: String, Sendable {
        /// The attribute is missing or has an unknown value (RFC 6265bis §5.6.7).
        case `default`
        /// Sent with all requests.
        case none
        /// Sent with requests of the same site and when a browser navigates to it.
        case lax
        /// Sent with requests of the same site.
        case strict
    }

    /// The octets of the name, which may be empty.
    public let nameOctets: [UInt8]
    /// The octets of the value.
    public let valueOctets: [UInt8]
    /// The name as text; octets that are not UTF-8 become U+FFFD.
    public var name: String { String(decoding: nameOctets, as: UTF8.self) }
    /// The value as text; octets that are not UTF-8 become U+FFFD.
    public var value: String { String(decoding: valueOctets, as: UTF8.self) }
    /// The host, or the domain whose hosts receive the cookie.
    public var domain: String
    /// Whether only the host itself receives the cookie.
    public var isHostOnly: Bool
    /// The path below which the cookie is sent.
    public var path: String
    /// The date at which the cookie expires; `nil` if it expires when the process ends.
    public var expiry: Date?
    /// Whether the cookie is sent only over TLS, and to this machine itself.
    public var isSecure: Bool
    /// Whether scripts of a page may not see it.
    public var isHTTPOnly: Bool
    /// The value of its `SameSite` attribute.
    package var sameSite: SameSite

    /// Creates a cookie with all of its attributes.
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

    /// The identity of the cookie: a new cookie with the same identity replaces it.
    var identity: Identity { Identity(name: nameOctets, domain: domain, isHostOnly: isHostOnly, path: path) }

    struct Identity: Hashable {
        let name: [UInt8]
        let domain: String
        let isHostOnly: Bool
        let path: String
    }

    /// The cookie in the form of a `Cookie` field (RFC 6265bis §5.8.3).
    var octets: [UInt8] { nameOctets.isEmpty ? valueOctets : nameOctets + [UInt8(ascii: "=")] + valueOctets }
}

extension Cookie: CustomStringConvertible, CustomReflectable {
    /// Name, domain and path, without the value.
    public var description: String { "Cookie \(name) of \(domain)\(path), \(Redaction.placeholder)" }

    /// All properties except the value.
    public var customMirror: Mirror { Mirror(self, children: ["name": name, "domain": domain, "path": path]) }
}
