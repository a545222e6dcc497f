import HTTPTypes

/// The cache directives of a request, from its `Cache-Control` and the options of its call (RFC 9111 §5.2.1, RFC 5861
/// §4).
///
/// `no-transform` is for intermediaries that transform, which this cache does not.
struct RequestDirectives: Sendable {
    /// No response may be used without validation.
    var isNoCache = false
    /// The response may not be stored.
    var isNoStore = false
    /// No older response may be used.
    var maxAge: Duration?
    /// The time after its freshness during which a response may be used.
    var maxStale: Duration?
    /// The time for which a response has to stay fresh.
    var minFresh: Duration?
    /// Whether nothing may be sent.
    var isOnlyIfCached = false
    /// The time after its freshness during which a response may be used if no fresh one is available.
    var staleIfError: Duration?

    /// Longer than any staleness.
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
            // Without a value any staleness is accepted; an invalid value accepts none.
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
    /// `Pragma` (RFC 9111 §5.4).
    static var pragma: HTTPField.Name { Self("Pragma") ?? .cacheControl }
}
