import HTTPTypes

/// The cache directives of a request, from its `Cache-Control` and the options of its call (RFC 9111 §5.2.1, RFC 5861
/// §4).
///
/// `no-transform` is ignored, because this cache does not transform responses.
struct RequestDirectives: Sendable {
    /// Whether a stored response must be validated before it is used.
    var isNoCache = false
    /// Whether the response must not be stored.
    var isNoStore = false
    /// The maximum age of a response that may be used; `nil` if there is no limit.
    var maxAge: Duration?
    /// The maximum time for which a stale response may have been stale; `nil` if only fresh responses are accepted.
    var maxStale: Duration?
    /// The minimum time for which a response must still be fresh; `nil` for no requirement.
    var minFresh: Duration?
    /// Whether no request may be sent, so that only a stored response can be used.
    var isOnlyIfCached = false
    /// The maximum time for which a stale response may have been stale if no fresh one is available; `nil` if the
    /// request does not state it.
    var staleIfError: Duration?

    /// A duration that is longer than any staleness.
    static var anyStaleness: Duration { .seconds(Int64(1) << 40) }

    init(_ fields: HTTPFields, use: CacheUse = .standard) {
        let values = fields[values: .cacheControl]
        if values.isEmpty {
            // `Pragma` counts only if `Cache-Control` is absent (RFC 9111 §5.4).
            isNoCache = fields[values: .pragma].contains { CacheDirectives([$0]).has("no-cache") }
        } else {
            let directives = CacheDirectives(values)
            isNoCache = directives.has("no-cache")
            isNoStore = directives.has("no-store")
            isOnlyIfCached = directives.has("only-if-cached")
            maxAge = directives.duration("max-age")
            staleIfError = directives.duration("stale-if-error")
            // Without a value, any staleness is accepted. With an invalid value, no staleness is accepted.
            maxStale = directives.arguments(of: "max-stale").map {
                $0 == .none ? Self.anyStaleness : CacheDirectives.duration($0) ?? .zero
            }.min()
            minFresh = directives.arguments(of: "min-fresh").map {
                CacheDirectives.duration($0) ?? .seconds(FieldList.maximumSeconds)
            }.max()
        }
        if use == .onlyIfCached {
            isOnlyIfCached = true
            maxStale = Self.anyStaleness
        }
    }
}

extension HTTPField.Name {
    static var pragma: HTTPField.Name { Self("Pragma") ?? .cacheControl }
}
