public import HTTPTypes
public import NIOCore
import RunwaySignatures

/// The scheme and the authorities under which clients reach a server.
///
/// Signatures cover the scheme and the authority. Both come from the server's configuration, because `Host` is set by a
/// client or a proxy.
///
/// ```swift
/// let origin = PublicOrigin("api.example.com")
/// ```
///
/// If there is one authority, it is verified whatever `Host` or `:authority` the request has, since a proxy may have
/// replaced it. If there are several, the authority in the request is verified if it is in the list. Otherwise the
/// request is refused with 421. A default port equals an absent one.
///
/// A request that names two servers is refused with 400. It names two if `Host` differs from `:authority` in HTTP/2
/// (RFC 9113 §8.3.1), or if several `Host` fields differ (RFC 9112 §3.2). Case and the default port make no difference.
public struct PublicOrigin: Sendable, Hashable {
    /// The scheme that clients use. The default is `https`.
    public let scheme: String
    /// The authorities, in lower case and without the default port.
    public let authorities: [String]
    /// The header field in which the proxy in front of this server sends the authority that the client used, such as
    /// `X-Forwarded-Host`. The default, `nil`, uses the authority of the request.
    ///
    /// The field is read if there are several authorities, and must name one of them. The proxy must replace a value
    /// that the client sends.
    public var proxyField: HTTPField.Name?
    /// The header field in which the proxy in front of this server sends the address of its client, such as
    /// `X-Forwarded-For`. The default is `nil`.
    ///
    /// The failures of the address are limited (``SignatureRules/failureLimits``), and ``source(of:from:)`` returns it.
    /// The last value counts, since the proxy appends its own value to the values that the client sent.
    public var proxySourceField: HTTPField.Name?

    /// Creates an origin with one or more authorities: hosts, with a port unless it is the default.
    public init(_ authority: String, _ others: String..., scheme: String = "https") {
        let scheme = Authority.lowercased(scheme)
        self.scheme = scheme
        authorities = ([authority] + others).compactMap { Authority.normalized($0, scheme: scheme) }
        precondition(authorities.count == others.count + 1, "A public authority has a host and no user")
    }

    /// Returns a copy of the request head with the scheme and authority that the client used.
    func head(of request: HTTPRequest, at now: UnixTime) throws(SignatureRefusal) -> HTTPRequest {
        // In HTTP/2, Host may accompany :authority, and an HTTP/1.1 request may have two Host fields (RFC 9113 §8.3.1,
        // RFC 9112 §3.2).
        let hosts = request.headerFields[values: Self.host].map(normalized)
        let named = request.authority.map(normalized) ?? hosts.first
        guard hosts.allSatisfy({ $0 == named }) else {
            throw SignatureRefusal(.malformed, "Host differs from the authority of the request", at: now)
        }
        // An absolute target would override Host (RFC 9112 §3.2.2), and thereby the configured authority.
        guard let path = request.path, path.utf8.first == UInt8(ascii: "/") else {
            throw SignatureRefusal(.malformed, "the target of the request is not in origin-form", at: now)
        }
        var head = request
        head.scheme = scheme
        if authorities.count == 1 {
            head.authority = authorities[0]
        } else {
            let stated = proxyField.map { name in
                let values = request.headerFields[values: name]
                return values.count == 1 ? normalized(values[0]) : nil
            }
            guard let authority = stated ?? named, authorities.contains(authority) else {
                throw SignatureRefusal(.authority, "the authority is not one of this server's", at: now)
            }
            head.authority = authority
        }
        return head
    }

    /// Returns whether a request that other rules verified was sent to this origin.
    func has(_ verified: HTTPRequest) -> Bool {
        verified.scheme == scheme && verified.authority.map { authorities.contains($0) } ?? false
    }

    /// Returns the source of a request, for example for the `source` of an ``UploadRouter``: the client address that
    /// the proxy sends, or otherwise the remote IP address. An IPv6 address is truncated to its first 56 bits. Returns
    /// `nil` if the proxy sends an authority but no address.
    public func source(of request: HTTPRequest, from address: SocketAddress?) -> String? {
        if let stated = statedSource(of: request) { return stated }
        return proxyField == nil ? address?.networkOfSource : nil
    }

    /// Returns the client address that the proxy sends, or `nil` if it sends none.
    func statedSource(of request: HTTPRequest) -> String? {
        guard let name = proxySourceField, let line = request.headerFields[values: name].last,
            let value = line.split(separator: ",", omittingEmptySubsequences: false).last
        else { return nil }
        var text = value.filter { $0 != " " && $0 != "\t" }
        // Some proxies include the port, which differs for each connection.
        if text.first == "[" {
            text = String(text.dropFirst().prefix { $0 != "]" })
        } else if text.count(where: { $0 == ":" }) == 1 {
            text = String(text.prefix { $0 != ":" })
        }
        guard !text.isEmpty else { return nil }
        return (try? SocketAddress(ipAddress: text, port: 0))?.networkOfSource ?? text
    }

    /// Returns the authority normalized as signatures require. Returns it unchanged if it is malformed, so that it
    /// matches no authority of this server.
    private func normalized(_ authority: String) -> String {
        Authority.normalized(authority, scheme: scheme) ?? authority
    }

    private static let host: HTTPField.Name = {
        guard let name = HTTPField.Name("Host") else { preconditionFailure("Host is the name of a header field") }
        return name
    }()
}
