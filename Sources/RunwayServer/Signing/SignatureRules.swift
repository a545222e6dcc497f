public import HTTPTypes
public import NIOCore
public import RunwaySignatures

/// What a request must have to pass a ``SignatureMiddleware``. Strict by default.
public struct SignatureRules: Sendable {
    /// Under which scheme and authorities clients reach the server.
    public var origin: PublicOrigin
    /// What a signature must have: by default method, authority, path, query, the digest of a body, a time of creation
    /// at most two minutes ago and 30 seconds ahead, a key identifier, and a nonce that is accepted once.
    public var policy: VerificationPolicy
    /// The largest body, in bytes, that is read and verified before a handler runs; a larger one is refused with 413.
    /// The default is 1 MiB. The signature is judged again when the body has come, which therefore takes no longer than
    /// `VerificationPolicy.maximumAge`.
    public var maximumBodyByteCount = 1 << 20
    /// Chooses the requests whose body is passed to the handler while it is received, however long it is. The digest is
    /// compared at its end, and the key read once more: reading throws a ``RefusedRequest`` after the last part if it
    /// is another body, or if the key was revoked meanwhile, so that a handler must not let the body take effect
    /// before. The body may take longer than a signature is accepted (`VerificationPolicy.maximumAge`). The default
    /// chooses none.
    ///
    /// A body with a salted digest is never streamed, because the digest can only be verified with the whole body.
    public var streamsBody: @Sendable (HTTPRequest) -> Bool = { _ in false }
    /// The types of the structured fields that signatures of requests and responses may cover strictly. The default has
    /// those that RFCs define; add a field of the app by its name in lower case.
    public var structuredFieldTypes = StructuredFieldType.registered
    /// Which salted digests and sealed keys are accepted in place of a signature. The default is `nil`: digests are
    /// refused.
    public var digests: DigestRules?
    /// How responses are signed. The default is `nil`: they are not.
    public var responses: ResponseSigning?
    /// How many failures of one source are examined before its requests are refused with 429. `nil` sets no limit.
    public var failureLimits: FailureLimits? = FailureLimits()
    /// Returns the source of a request, whose failures are limited, or `nil` for one without limit. By default it is
    /// the remote IP address, of IPv6 its first 56 bits, or the one that ``PublicOrigin/proxySourceField`` states.
    /// Behind a proxy all requests have the proxy's address: set that field, or return what identifies the client. If
    /// ``PublicOrigin/proxyField`` is set and neither is, failures have no limit, since one client would use up that of
    /// all, and the middleware logs a warning.
    public var source: (@Sendable (HTTPRequest, SocketAddress?) -> String?)?
    /// Whether refusals explain themselves, with the signature base of the server, which the app's `SigningStage`
    /// compares with its own. They then help an attacker, too, and can have what covered header fields have. The
    /// default is `false`.
    public var explainsRefusals = false

    /// Rules for signatures with a tag.
    public init(tag: String, origin: PublicOrigin) {
        policy = VerificationPolicy(tag: tag)
        self.origin = origin
    }

    func source(of request: HTTPRequest, from address: SocketAddress?) -> String? {
        if let source { return source(request, address) }
        return origin.source(of: request, from: address)
    }

    /// What is probably not meant, for the log.
    var warning: String? {
        guard failureLimits != nil, origin.proxyField != nil, origin.proxySourceField == nil, source == nil else {
            return nil
        }
        return "failures have no limit behind this proxy: set PublicOrigin.proxySourceField or SignatureRules.source"
    }
}

extension SocketAddress {
    /// The IP address; of IPv6 the network of 56 bits, since a home may have all its addresses (RFC 6177 §2).
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
