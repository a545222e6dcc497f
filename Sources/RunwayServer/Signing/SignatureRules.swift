public import HTTPTypes
public import NIOCore
public import RunwaySignatures

/// The requirements of a ``SignatureMiddleware`` for requests. Strict by default.
public struct SignatureRules: Sendable {
    /// The scheme and the authorities under which clients reach the server.
    public var origin: PublicOrigin
    /// The requirements for a signature. By default: method, authority, path, query, the digest of a body, a time of
    /// creation at most two minutes ago and 30 seconds ahead, a key identifier, and a nonce that is accepted once.
    public var policy: VerificationPolicy
    /// The largest body, in bytes, that is read and verified before a handler runs; a larger one is refused with 413.
    /// The default is 1 MiB. Raise it for larger bodies, each of which takes that much memory. The signature is judged
    /// again when the body has arrived, which must therefore take no longer than `VerificationPolicy.maximumAge`.
    public var maximumBodyByteCount = 1 << 20
    /// Chooses the requests whose body is passed to the handler while it is received, regardless of its length. At the
    /// end of the body its digest is compared, and the key is looked up again: if the digest differs, or the key was
    /// revoked meanwhile, reading throws a ``RefusedRequest`` after the last part. A handler must not let the body take
    /// effect before. The body may take longer than a signature is accepted (`VerificationPolicy.maximumAge`). The
    /// default chooses no request.
    ///
    /// A body with a salted digest is never streamed, because the digest can only be verified with the whole body.
    public var streamsBody: @Sendable (HTTPRequest) -> Bool = { _ in false }
    /// The types of the structured fields that signatures of requests and responses may cover strictly. The default has
    /// the fields that RFCs define; add a field of the app by its name in lower case.
    public var structuredFieldTypes = StructuredFieldType.registered
    /// The salted digests and sealed keys that are accepted instead of a signature. The default is `nil`: digests are
    /// refused.
    public var digests: DigestRules?
    /// The way in which responses are signed. The default is `nil`: they are not signed.
    public var responses: ResponseSigning?
    /// The number of failures of one source that are examined before its requests are refused with 429. `nil` sets no
    /// limit: for tests under load.
    public var failureLimits: FailureLimits? = FailureLimits()
    /// Returns the source of a request, whose failures are limited; `nil` for a request without limit. By default it is
    /// the remote IP address, for IPv6 its first 56 bits, or the address that ``PublicOrigin/proxySourceField`` states.
    ///
    /// Behind a proxy all requests have the proxy's address: set that field, or return an identifier of the client. If
    /// ``PublicOrigin/proxyField`` is set and neither is done, failures have no limit, since one client would use up
    /// the limit of all, and the middleware logs a warning.
    public var source: (@Sendable (HTTPRequest, SocketAddress?) -> String?)?
    /// Whether refusals contain the signature base of the server, which the app's `SigningStage` compares with its own.
    /// They then help an attacker, too, and can disclose the values of covered header fields. The default is `false`.
    public var explainsRefusals = false

    /// Creates rules for signatures with a tag.
    public init(tag: String, origin: PublicOrigin) {
        policy = VerificationPolicy(tag: tag)
        self.origin = origin
    }

    func source(of request: HTTPRequest, from address: SocketAddress?) -> String? {
        if let source { return source(request, address) }
        return origin.source(of: request, from: address)
    }

    /// A warning about a probable mistake, for the log.
    var warning: String? {
        guard failureLimits != nil, origin.proxyField != nil, origin.proxySourceField == nil, source == nil else {
            return nil
        }
        return "failures have no limit behind this proxy: set PublicOrigin.proxySourceField or SignatureRules.source"
    }
}

extension SocketAddress {
    /// The IP address; for IPv6 the network of 56 bits, since a home may have all addresses of it (RFC 6177 §2).
    var networkOfSource: String? {
        // An IPv4 address in the form of IPv6 is one client; a scoped address has its zone after a percent sign.
        guard case .v6 = self, let text = ipAddress?.prefix(while: { $0 != "%" }), !text.hasPrefix("::ffff:") else {
            return ipAddress
        }
        // Two colons stand for the groups that are zero.
        let parts = text.split(separator: "::", maxSplits: 1, omittingEmptySubsequences: false)
        let groups = parts.map { $0.split(separator: ":") }
        let zeros = Array(repeating: "0"[...], count: max(0, 8 - groups.joined().count))
        let all = groups[0] + zeros + groups.dropFirst().joined()
        let fourth = String((UInt16(all[3], radix: 16) ?? 0) & 0xFF00, radix: 16)
        return (all.prefix(3) + [fourth[...]]).joined(separator: ":")
    }
}
