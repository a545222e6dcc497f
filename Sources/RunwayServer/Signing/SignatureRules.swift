public import HTTPTypes
public import NIOCore
public import RunwaySignatures

/// The requirements of a ``SignatureMiddleware`` for requests. The defaults are strict.
public struct SignatureRules: Sendable {
    /// The scheme and the authorities by which clients reach the server.
    public var origin: PublicOrigin
    /// The requirements for a signature. By default, it must cover the method, authority, path, query and digest of a
    /// body. It must have a key identifier, a nonce that was not used before, and a creation time at most two minutes
    /// old and at most 30 seconds ahead.
    public var policy: VerificationPolicy
    /// The maximum body size, in bytes, that is read and verified before a handler runs; a larger body is refused with
    /// 413. The default is 1 MiB. Raise it for larger bodies, each of which is held in memory.
    ///
    /// The signature is judged again when the body has arrived, so the body must arrive within
    /// `VerificationPolicy.maximumAge`.
    public var maximumBodyByteCount = 1 << 20
    /// Selects requests whose body is streamed to the handler, regardless of its length. The default selects none.
    ///
    /// At the end of the body, its digest is compared and the key is looked up again. If the digest differs or the key
    /// was revoked, reading throws a ``RefusedRequest`` after the last part; a handler must not let the body take
    /// effect before. The body may take longer than `VerificationPolicy.maximumAge`.
    ///
    /// A body with a salted digest is never streamed, since the digest can only be verified with the whole body.
    public var streamsBody: @Sendable (HTTPRequest) -> Bool = { _ in false }
    /// The types of the structured fields that signatures may cover strictly, in requests and responses. The default
    /// has the fields that RFCs define. Add fields of the app by their lowercase names.
    public var structuredFieldTypes = StructuredFieldType.registered
    /// The rules for requests that have a salted digest, with or without a sealed key, instead of a signature. The
    /// default, `nil`, refuses digests.
    public var digests: DigestRules?
    /// The settings for signing responses. The default, `nil`, signs no responses.
    public var responses: ResponseSigning?
    /// The limit on failures of one source, beyond which its requests are refused with 429. `nil` sets no limit, for
    /// load tests.
    public var failureLimits: FailureLimits? = FailureLimits()
    /// Returns the source to which the failures of a request are counted; `nil` for a request without a limit. The
    /// default is the address in ``PublicOrigin/proxySourceField``, or the remote IP address, truncated to its first 56
    /// bits for IPv6.
    ///
    /// Behind a proxy, all requests have the proxy's address: set the field, or return an identifier of the client. If
    /// only ``PublicOrigin/proxyField`` is set, failures have no limit, since one client would use up the limit of all;
    /// the middleware then logs a warning.
    public var source: (@Sendable (HTTPRequest, SocketAddress?) -> String?)?
    /// Whether refusals contain the server's signature base, which the app's `SigningStage` compares with its own. The
    /// default is `false`. Refusals with a signature base also help attackers, and can disclose the values of covered
    /// header fields.
    public var explainsRefusals = false

    /// Creates rules for signatures with a tag and for requests to an origin. All other properties have their defaults.
    public init(tag: String, origin: PublicOrigin) {
        policy = VerificationPolicy(tag: tag)
        self.origin = origin
    }

    func source(of request: HTTPRequest, from address: SocketAddress?) -> String? {
        if let source { return source(request, address) }
        return origin.source(of: request, from: address)
    }

    /// A warning about a probable mistake, to be logged; `nil` if none was found.
    var warning: String? {
        guard failureLimits != nil, origin.proxyField != nil, origin.proxySourceField == nil, source == nil else {
            return nil
        }
        return "failures have no limit behind this proxy: set PublicOrigin.proxySourceField or SignatureRules.source"
    }
}

extension SocketAddress {
    /// The IP address, or the 56-bit network of an IPv6 address, since one home may own the whole network (RFC 6177
    /// §2).
    var networkOfSource: String? {
        // An IPv4-mapped IPv6 address identifies one client, so it is not truncated. The zone of a scoped address,
        // after a percent sign, is removed.
        guard case .v6 = self, let text = ipAddress?.prefix(while: { $0 != "%" }), !text.hasPrefix("::ffff:") else {
            return ipAddress
        }
        // Two colons stand for the omitted zero groups.
        let parts = text.split(separator: "::", maxSplits: 1, omittingEmptySubsequences: false)
        let groups = parts.map { $0.split(separator: ":") }
        let zeros = Array(repeating: "0"[...], count: max(0, 8 - groups.joined().count))
        let all = groups[0] + zeros + groups.dropFirst().joined()
        let fourth = String((UInt16(all[3], radix: 16) ?? 0) & 0xFF00, radix: 16)
        return (all.prefix(3) + [fourth[...]]).joined(separator: ":")
    }
}
